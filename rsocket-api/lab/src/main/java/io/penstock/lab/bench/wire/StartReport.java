package io.penstock.lab.bench.wire;

import io.penstock.PenstockVersion;
import io.penstock.lab.bench.side.Bench;
import io.penstock.lab.bench.side.BenchNames;
import io.penstock.lab.bench.side.Direction;
import io.penstock.lab.bench.side.SideSetting;
import io.penstock.lab.bench.side.Turns;
import io.penstock.node.text.Plural;
import io.penstock.node.text.Sizes;
import io.penstock.node.text.TextTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// What `bench start` found.
///
/// @param penstock version
/// @param transport of the connection
/// @param direction of the blocks
/// @param blockBytes bytes of a block
/// @param batch blocks of a request
/// @param threads requests under way at a time
/// @param secondsToFirstRequest from the start of this process
/// @param steadyGigabytesPerSecond median of the last third of the seconds
/// @param goodSecond the first second with 0.8 of the steady rate; 0 if the steady rate is 0
/// @param seconds from the first request on
record StartReport(String penstock, String transport, String direction, int blockBytes, int batch, int threads,
    double secondsToFirstRequest, double steadyGigabytesPerSecond, int goodSecond,
    List<Second> seconds) implements Bench.Report {
  /// Share of the steady rate that is wanted soon.
  private static final double GOOD = 0.8;

  /// @param second counted from 1
  /// @param gigabytesPerSecond 10⁹ bytes a second
  /// @param ofSteady share of the steady rate
  /// @param soFarOfSteady share of the steady rate, all seconds until now together
  /// @param cpuSeconds CPU time of both sides
  record Second(int second, double gigabytesPerSecond, double ofSteady, double soFarOfSteady, double cpuSeconds) {}

  /// Work of one second.
  record Measured(long bytes, long nanos, long cpuNanos) {
    double gigabytesPerSecond() {
      return (double) bytes / nanos;
    }
  }

  static StartReport of(SideSetting setting, Direction direction, int blockBytes, int batch, long startNanos,
      List<Measured> measured) {
    double steady = steady(measured);
    List<Second> seconds = new ArrayList<>();
    long bytes = 0;
    long nanos = 0;
    int good = 0;
    for (Measured one : measured) {
      bytes += one.bytes;
      nanos += one.nanos;
      double rate = one.gigabytesPerSecond();
      seconds.add(new Second(seconds.size() + 1, rate, part(rate, steady), part((double) bytes / nanos, steady),
          one.cpuNanos / 1e9));
      if (good == 0 && steady > 0 && rate >= GOOD * steady) {
        good = seconds.size();
      }
    }
    return new StartReport(PenstockVersion.current(), BenchNames.of(setting.transport()), BenchNames.of(direction),
        blockBytes, batch, setting.threads(), startNanos / 1e9, steady, good, seconds);
  }

  /// 0 of no rate at all.
  private static double part(double rate, double of) {
    return of == 0 ? 0 : rate / of;
  }

  private static double steady(List<Measured> measured) {
    return Turns.median(measured.subList(measured.size() - Math.max(1, measured.size() / 3), measured.size()).stream()
        .mapToDouble(Measured::gigabytesPerSecond).toArray());
  }

  /// Table for people.
  @Override
  public String table() {
    TextTable table = new TextTable("SECOND", "GB/S", "OF STEADY", "SO FAR OF STEADY", "CPU s");
    seconds.forEach(second -> table.row(second.second(), number(second.gigabytesPerSecond()),
        number(second.ofSteady()), number(second.soFarOfSteady()), number(second.cpuSeconds())));
    return table + String.format(Locale.ROOT,
        "%n%s: the steady rate is %.2f GB/s%n%s of %s over %s, batches of %d, %s under way; first request after %.1f s"
            + "%n",
        goodSecond == 0 ? "no steady rate" : "0.8 of the steady rate in second " + goodSecond,
        steadyGigabytesPerSecond, direction + "s", Sizes.human(blockBytes), transport, batch,
        Plural.of(threads, "request"), secondsToFirstRequest);
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.2f", value);
  }
}
