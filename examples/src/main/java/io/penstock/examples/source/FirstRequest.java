package io.penstock.examples.source;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongConsumer;

/// Does something at the first request of a subscriber. A `MonoSink` tells of every request, and a `Mono` may get
/// several.
public final class FirstRequest implements LongConsumer {
  private final Runnable work;
  private final AtomicBoolean done = new AtomicBoolean();

  public FirstRequest(Runnable work) {
    this.work = work;
  }

  @Override
  public void accept(long n) {
    if (done.compareAndSet(false, true)) {
      work.run();
    }
  }
}
