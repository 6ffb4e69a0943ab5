package io.penstock.examples.pipe;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongConsumer;

/// Runs its work at the first request of a subscriber. A `MonoSink` reports every request, and a `Mono` may get
/// several.
final class FirstRequest implements LongConsumer {
  private final Runnable work;
  private final AtomicBoolean done = new AtomicBoolean();

  FirstRequest(Runnable work) {
    this.work = work;
  }

  @Override
  public void accept(long n) {
    if (done.compareAndSet(false, true)) {
      work.run();
    }
  }
}
