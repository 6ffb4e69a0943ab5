package io.penstock.tier;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import reactor.core.publisher.Operators;

/// One reader of an [EventLog]: a place and a demand, and no queue of its own.
final class EventReader implements Subscription {
  private final EventLog log;
  private final Subscriber<? super TierEvent> subscriber;
  private final AtomicLong requested = new AtomicLong();
  /// Held from the start, so that nothing is signalled before `onSubscribe`.
  private final AtomicInteger wip = new AtomicInteger(1);
  /// Written by the draining thread only.
  private long sequence;
  private volatile @Nullable Throwable illegal;
  private volatile boolean done;

  EventReader(EventLog log, Subscriber<? super TierEvent> subscriber, long sequence) {
    this.log = log;
    this.subscriber = subscriber;
    this.sequence = sequence;
  }

  @Override
  public void request(long n) {
    if (n <= 0) {
      illegal = new IllegalArgumentException("n must be > 0 (was " + n + "), Reactive Streams rule 3.9");
    } else {
      requested.accumulateAndGet(n, Operators::addCap);
    }
    drain();
  }

  @Override
  public void cancel() {
    done = true;
    log.leave(this);
  }

  void drain() {
    if (wip.getAndIncrement() == 0) {
      open();
    }
  }

  /// Emits for as long as others ask for it.
  void open() {
    int missed = 1;
    do {
      emit();
      missed = wip.addAndGet(-missed);
    } while (missed != 0);
  }

  private void emit() {
    Throwable misuse = illegal;
    if (misuse != null) {
      fail(misuse);
    }
    while (!done && requested.get() > 0) {
      TierEvent event = log.following(sequence);
      if (event == null) {
        break;
      }
      sequence = event.sequence();
      if (requested.get() != Long.MAX_VALUE) {
        requested.decrementAndGet();
      }
      subscriber.onNext(event);
    }
    if (!done && log.endsAt(sequence)) {
      cancel();
      subscriber.onComplete();
    }
  }

  private void fail(Throwable error) {
    if (!done) {
      cancel();
      subscriber.onError(error);
    }
  }
}
