package io.penstock.tier;

import org.reactivestreams.Subscriber;

/// One reader of an [EventLog]: a position and a demand, without a queue.
final class EventReader extends DemandLoop {
  private final EventLog log;
  private final Subscriber<? super TierEvent> subscriber;
  /// Number of the event emitted last. Only the emitting thread writes it.
  private long sequence;
  private volatile boolean done;

  EventReader(EventLog log, Subscriber<? super TierEvent> subscriber, long sequence) {
    this.log = log;
    this.subscriber = subscriber;
    this.sequence = sequence;
  }

  @Override
  public void cancel() {
    done = true;
    log.leave(this);
  }

  @Override
  void emit() {
    Throwable misuse = misuse();
    if (misuse != null) {
      fail(misuse);
    }
    while (!done && isWanted()) {
      TierEvent event = log.following(sequence);
      if (event == null) {
        break;
      }
      sequence = event.sequence();
      spend();
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
