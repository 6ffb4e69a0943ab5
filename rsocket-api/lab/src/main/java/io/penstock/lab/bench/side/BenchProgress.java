package io.penstock.lab.bench.side;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.Progress;
import java.util.concurrent.TimeUnit;

/// Shows the progress of a bench whose loads run for a known time. One thread at a time.
public final class BenchProgress implements AutoCloseable {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private final Progress progress;
  private final long allNanos;
  private long doneNanos;

  private BenchProgress(Progress progress, long allNanos) {
    this.progress = progress;
    this.allNanos = allNanos;
  }

  /// Says at once how long the loads will run.
  ///
  /// @param nanos of all loads together
  public static BenchProgress of(Console console, String task, long nanos) {
    console.say("%s: takes about %s, and the time to prepare blocks".formatted(task,
        Progress.time(Math.ceilDiv(nanos, SECOND))));
    return new BenchProgress(Progress.of(console, task, "seconds", SECOND), nanos);
  }

  /// Names the next step, in a few words.
  public void next(String what) {
    progress.next(what);
  }

  /// A load ran for `nanos`.
  void ran(long nanos) {
    doneNanos = Math.min(allNanos, doneNanos + nanos);
    progress.at(doneNanos, allNanos);
  }

  @Override
  public void close() {
    progress.close();
  }
}
