package io.penstock.testkit;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// Runs a few tasks at the same moment, over and over, each on a thread of its own: for rules that must hold in any
/// interleaving.
public final class Race implements AutoCloseable {
  private static final int SECONDS = 30;

  private final CyclicBarrier start;
  private final CyclicBarrier end;
  private final List<Thread> threads = new ArrayList<>();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private volatile Runnable[] tasks = {};
  private volatile boolean over;

  public Race(int contenders) {
    start = new CyclicBarrier(contenders + 1);
    end = new CyclicBarrier(contenders + 1);
    for (int i = 0; i < contenders; i++) {
      int lane = i;
      threads.add(Thread.ofPlatform().daemon().name("race-" + i).start(() -> contend(lane)));
    }
  }

  /// Runs one task a contender; returns when all have ended.
  ///
  /// @throws AssertionError if one of them failed
  public void run(Runnable... contenders) {
    if (contenders.length != threads.size()) {
      throw new IllegalArgumentException("contenders must be " + threads.size() + " (was " + contenders.length + ")");
    }
    tasks = contenders;
    await(start);
    await(end);
    Throwable thrown = failure.getAndSet(null);
    if (thrown != null) {
      throw new AssertionError("no contender may fail", thrown);
    }
  }

  private void contend(int lane) {
    await(start);
    while (!over) {
      try {
        tasks[lane].run();
      } catch (Throwable e) {
        failure.compareAndSet(null, e);
      }
      await(end);
      await(start);
    }
  }

  private static void await(CyclicBarrier barrier) {
    try {
      barrier.await(SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException | BrokenBarrierException | TimeoutException e) {
      throw new AssertionError("a contender must end within " + SECONDS + " s", e);
    }
  }

  @Override
  public void close() {
    over = true;
    await(start);
  }
}
