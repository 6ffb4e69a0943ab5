package io.penstock.node.ssd;

import io.penstock.node.cli.Console;
import io.penstock.storage.check.CheckProgress;
import java.util.function.Function;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/// Shows how far a check has come: a bar on a terminal, nothing elsewhere.
final class CheckView {
  private static final long MIB = 1 << 20;

  private final Console console;

  private CheckView(Console console) {
    this.console = console;
  }

  static CheckView of(Console console) {
    return new CheckView(console);
  }

  /// What `work` gives, watched.
  <T> T watch(String name, Function<CheckProgress, T> work) {
    if (!console.isTerminal()) {
      return work.apply(CheckProgress.none());
    }
    try (ProgressBar bar = new ProgressBarBuilder().setTaskName(name).setUnit(" MiB", MIB).setStyle(ProgressBarStyle.ASCII)
        .setUpdateIntervalMillis(200).setConsumer(new ConsoleProgressBarConsumer(console.err())).build()) {
      return work.apply((bytes, of) -> {
        bar.maxHint(of);
        bar.stepTo(bytes);
      });
    }
  }
}
