package io.penstock.node.replay;

import io.penstock.node.replay.report.Tally;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/// A line at once and every few seconds, for a log.
final class ProgressLinesView implements ProgressView {
  static final long EVERY_NANOS = 3_000_000_000L;

  private final Consumer<String> lines;
  private final long requests;
  private final LongSupplier nanoClock;
  private long lastNanos;

  /// @param requests how many there will be, or -1 if unknown
  ProgressLinesView(Consumer<String> lines, long requests, LongSupplier nanoClock) {
    this.lines = lines;
    this.requests = requests;
    this.nanoClock = nanoClock;
    this.lastNanos = nanoClock.getAsLong() - EVERY_NANOS;
  }

  @Override
  public void show(Tally.Sums sums, double bytesPerSecond, long inFlightBytes) {
    long now = nanoClock.getAsLong();
    if (now - lastNanos >= EVERY_NANOS) {
      lastNanos = now;
      say(sums, requests, bytesPerSecond, inFlightBytes);
    }
  }

  @Override
  public void end(Tally.Sums sums, double bytesPerSecond) {
    say(sums, sums.requests(), bytesPerSecond, 0);
  }

  private void say(Tally.Sums sums, long all, double bytesPerSecond, long inFlightBytes) {
    String of = all < 0 ? "" : String.format(Locale.ROOT, " of %,d", all);
    lines.accept(String.format(Locale.ROOT, "%,d%s requests, ", sums.requests(), of)
        + ProgressLine.of(sums, bytesPerSecond, inFlightBytes));
  }

  @Override
  public void close() {}
}
