package io.penstock.node.replay;

import io.penstock.node.cli.Progress;
import io.penstock.node.replay.report.Tally;
import java.io.PrintStream;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/// A bar that is redrawn in place, for a terminal.
final class ProgressBarView implements ProgressView {
  private final ProgressBar bar;

  /// @param requests how many there will be, or -1 if unknown
  ProgressBarView(PrintStream err, long requests) {
    this.bar = new ProgressBarBuilder().setTaskName("replay").setInitialMax(requests).setUnit(" requests", 1)
        .setStyle(ProgressBarStyle.ASCII).setUpdateIntervalMillis(200)
        .setConsumer(new ConsoleProgressBarConsumer(err, Progress.COLUMNS))
        .build();
  }

  @Override
  public void show(Tally.Sums sums, double bytesPerSecond, long inFlightBytes) {
    bar.setExtraMessage(" " + ProgressLine.of(sums, bytesPerSecond, inFlightBytes));
    bar.stepTo(sums.requests());
  }

  @Override
  public void end(Tally.Sums sums, double bytesPerSecond) {
    bar.maxHint(sums.requests());
    show(sums, bytesPerSecond, 0);
  }

  @Override
  public void close() {
    bar.close();
  }
}
