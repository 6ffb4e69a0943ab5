package io.penstock.stack.ledger;

import io.penstock.tier.DemandLoop;
import io.penstock.tier.TierEvent;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscriber;

/// One reader of an [EventLog]: a position and a demand. It keeps at most one step of a snapshot, and no other queue.
///
/// A reader with snapshots reads a step, emits the changes up to the moment of that step, then the step, then the next.
/// So what it emits is true in the order of the sequence numbers. A gap starts the snapshot again.
final class EventReader extends DemandLoop {
  private final EventLog log;
  private final Subscriber<? super TierEvent> subscriber;
  private final SnapshotPage.@Nullable Source snapshots;
  private volatile boolean done;

  // Used by the emitting thread only
  /// Number of the change emitted last.
  private long sequence;
  /// Number of the next end of a session.
  private long end;
  private final Deque<TierEvent> step = new ArrayDeque<>(0);
  /// Number of the change after which `step` was read.
  private long stepSequence;
  /// Start of the next step; −1 if no snapshot is under way.
  private int next = -1;

  /// A reader of the changes after `sequence`.
  EventReader(EventLog log, Subscriber<? super TierEvent> subscriber, long sequence) {
    this.log = log;
    this.subscriber = subscriber;
    this.sequence = sequence;
    this.end = log.endsSince(sequence);
    this.snapshots = null;
  }

  /// A reader that begins with a snapshot.
  EventReader(EventLog log, Subscriber<? super TierEvent> subscriber, SnapshotPage.Source snapshots) {
    this.log = log;
    this.subscriber = subscriber;
    this.snapshots = snapshots;
    this.end = log.ends();
    this.next = 0;
  }

  @Override
  public void cancel() {
    done = true;
    log.leave(this);
  }

  @Override
  public void emit() {
    while (!done && isWanted()) {
      TierEvent event = nextEvent();
      if (event == null) {
        break;
      }
      spend();
      subscriber.onNext(event);
    }
    if (!done && log.endsAt(sequence, end)) {
      cancel();
      subscriber.onComplete();
    }
  }

  private @Nullable TierEvent nextEvent() {
    while (snapshots != null && step.isEmpty() && next >= 0) { // no event of its own follows an empty step
      read(snapshots, next);
    }
    if (!step.isEmpty() && sequence >= stepSequence) {
      return step.remove();
    }
    EventLog.Ended ended = log.endBy(end, sequence);
    if (ended != null) {
      end = ended.number() + 1;
      return ended.event();
    }
    TierEvent event = log.following(sequence);
    if (event instanceof TierEvent.Skipped && snapshots != null) {
      step.clear();
      read(snapshots, 0);
      return step.remove();
    }
    if (event != null) {
      sequence = event.sequence();
    }
    return event;
  }

  private void read(SnapshotPage.Source source, int from) {
    SnapshotPage page = source.read(from);
    step.addAll(page.events());
    stepSequence = page.sequence();
    next = page.next();
    if (from == 0) {
      sequence = stepSequence;
    }
  }

  @Override
  public void fail(Throwable error) {
    if (!done) {
      cancel();
      subscriber.onError(error);
    }
  }
}
