package io.penstock.operator;

import io.penstock.check.Uncaught;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Runs steps one after another, in the order in which they come, each exactly once. What only steps touch needs no
/// lock. A [SerialLoop] runs them, and its policy holds: the calling thread, or the thread that is inside; a step that
/// gives another step does not nest.
///
/// The queue has no bound of its own: credit and outstanding calls bound the steps. A step that finds no other step is
/// not queued, and costs no memory.
///
/// A step that throws fails what its owner says and nothing else: neither the steps behind it nor the thread that
/// happened to run it.
public final class Serial {
  private final Queue<Runnable> steps = new ConcurrentLinkedQueue<>();
  private final SerialLoop loop;

  /// Steps whose exceptions are reported to [Uncaught].
  public Serial() {
    this(Uncaught::report);
  }

  /// @param failed receives what a step threw; runs as part of that step
  public Serial(Consumer<? super Throwable> failed) {
    this.loop = new SerialLoop(this::runQueued, failed);
  }

  /// Runs `step` after the steps that were given before: on this thread, or on the thread that runs a step now.
  public void run(Runnable step) {
    if (loop.tryEnter()) {
      loop.attempt(step);
      loop.leave();
    } else {
      steps.add(step);
      loop.run();
    }
  }

  /// Runs `step` on this thread if no thread is inside, so that all steps that were given before have run.
  ///
  /// @return what `step` returned; null if a thread is inside, which leaves `step` out, or if it threw
  public <T> @Nullable T tryGet(Supplier<@Nullable T> step) {
    if (!loop.tryEnter()) {
      return null;
    }
    AtomicReference<@Nullable T> got = new AtomicReference<>();
    loop.attempt(() -> got.setPlain(step.get()));
    loop.leave();
    return got.getPlain();
  }

  private void runQueued() {
    for (Runnable next = steps.poll(); next != null; next = steps.poll()) {
      loop.attempt(next);
    }
  }
}
