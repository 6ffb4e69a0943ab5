package io.penstock.node.recording;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.Progress;
import org.jspecify.annotations.Nullable;

/// The progress of work on a recording: shown if it has many events.
final class Progressing implements AutoCloseable {
  private static final long MANY_EVENTS = 200_000;
  private static final int EVENTS = 1 << 12;

  private final @Nullable Progress progress;
  private final long all;

  private Progressing(@Nullable Progress progress, long all) {
    this.progress = progress;
    this.all = all;
  }

  static Progressing of(Console console, String task, long all) {
    return new Progressing(all < MANY_EVENTS ? null : Progress.of(console, task, "events"), all);
  }

  void at(long done) {
    if (progress != null && done % EVENTS == 0) {
      progress.at(done, all);
    }
  }

  /// Names the next step.
  void next(String what) {
    if (progress != null) {
      progress.next(what);
    }
  }

  @Override
  public void close() {
    if (progress != null) {
      progress.close();
    }
  }
}
