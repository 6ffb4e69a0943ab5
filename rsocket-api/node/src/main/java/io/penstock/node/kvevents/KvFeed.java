package io.penstock.node.kvevents;

import io.penstock.tier.TierEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;

/// The events of a tier, for one thread that takes them. It asks for as many as its queue has room for.
final class KvFeed extends BaseSubscriber<TierEvent> {
  private final int room;
  private final ArrayBlockingQueue<TierEvent> queue;
  private volatile boolean over;

  KvFeed(int room) {
    this.room = room;
    this.queue = new ArrayBlockingQueue<>(room);
  }

  @Override
  protected void hookOnSubscribe(Subscription subscription) {
    request(room);
  }

  @Override
  protected void hookOnNext(TierEvent event) {
    queue.add(event);
  }

  /// The tier has closed.
  @Override
  protected void hookOnComplete() {
    over = true;
  }

  @Override
  protected void hookOnError(Throwable error) {
    over = true;
  }

  /// Takes up to `most` events, and waits for the first if there is none.
  ///
  /// @return empty if no event came in time
  List<TierEvent> take(int most, Duration patience) throws InterruptedException {
    List<TierEvent> taken = new ArrayList<>();
    TierEvent first = queue.poll(patience.toNanos(), TimeUnit.NANOSECONDS);
    if (first != null) {
      taken.add(first);
      queue.drainTo(taken, most - 1);
      request(taken.size());
    }
    return taken;
  }

  /// Whether no more events come.
  boolean isOver() {
    return over && queue.isEmpty();
  }
}
