package io.penstock.stack.ledger;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.session.SessionId;
import io.penstock.check.Checks;
import io.penstock.tier.TierEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscriber;
import reactor.core.publisher.Flux;

/// The newest events of a tier, in a ring, and the readers that follow it. Each reader has its own position and demand.
///
/// A slow reader costs no memory: a reader that falls behind the ring gets [TierEvent.Skipped]. [#append] only records,
/// so callers may hold a lock. [#signal()] emits, so callers must hold none.
public final class EventLog {
  /// Ends of sessions that are kept for slow readers.
  private static final int ENDS = 256;

  @GuardedBy("this") private final TierEvent[] ring;
  private final Consumer<TierEvent> heard;
  private final List<EventReader> readers = new CopyOnWriteArrayList<>();
  @GuardedBy("this") private long lastSequence;
  /// The newest ends of sessions, in a ring. They take no number of their own.
  @GuardedBy("this") private final TierEvent.SessionEnded[] ends = new TierEvent.SessionEnded[ENDS];
  @GuardedBy("this") private long allEnds;
  @GuardedBy("this") private boolean closed;

  public EventLog(int capacity) {
    this(capacity, event -> {});
  }

  /// @param heard gets each event as it is recorded, under the lock of the caller
  public EventLog(int capacity, Consumer<TierEvent> heard) {
    this.heard = heard;
    Checks.positive("capacity", capacity);
    this.ring = new TierEvent[capacity];
  }

  synchronized long append(LongFunction<TierEvent> event) {
    long sequence = ++lastSequence;
    TierEvent next = event.apply(sequence);
    ring[slot(sequence)] = next;
    heard.accept(next);
    return sequence;
  }

  /// Records that a client ended a session, after the last change.
  synchronized void ended(SessionId session) {
    ends[(int) (allEnds++ % ENDS)] = new TierEvent.SessionEnded(lastSequence, session);
  }

  /// Number of ends of sessions so far.
  synchronized long ends() {
    return allEnds;
  }

  /// Number of the first end of a session, of those kept, that came after the change `sequence`.
  synchronized long endsSince(long sequence) {
    long first = Math.max(0, allEnds - ENDS);
    while (first < allEnds && ends[(int) (first % ENDS)].sequence() < sequence) {
      first++;
    }
    return first;
  }

  /// The end of a session with number `end`, or the oldest after it that is kept, if all changes before it are among
  /// those up to `sequence`; else null.
  synchronized @Nullable Ended endBy(long end, long sequence) {
    long next = Math.max(end, allEnds - ENDS);
    if (next >= allEnds || ends[(int) (next % ENDS)].sequence() > sequence) {
      return null;
    }
    return new Ended(next, ends[(int) (next % ENDS)]);
  }

  /// An end of a session and its number.
  record Ended(long number, TierEvent.SessionEnded event) {}

  public synchronized long lastSequence() {
    return lastSequence;
  }

  /// Makes every reader emit the events recorded so far.
  public void signal() {
    for (EventReader reader : readers) {
      reader.drain();
    }
  }

  /// Ends every reader after the events recorded so far.
  public void close() {
    synchronized (this) {
      closed = true;
    }
    signal();
  }

  public Flux<TierEvent> after(long sequence) {
    Checks.notNegative("sequence", sequence);
    return readBy(subscriber -> new EventReader(this, subscriber, sequence));
  }

  /// A snapshot, then the events after it; after a gap a snapshot again.
  public Flux<TierEvent> follow(SnapshotPage.Source snapshots) {
    return readBy(subscriber -> new EventReader(this, subscriber, snapshots));
  }

  private Flux<TierEvent> readBy(Function<Subscriber<? super TierEvent>, EventReader> newReader) {
    return Flux.from(subscriber -> {
      EventReader reader = newReader.apply(subscriber);
      readers.add(reader);
      subscriber.onSubscribe(reader);
      reader.open();
    });
  }

  /// The event after `sequence`; if the ring lost it, a [TierEvent.Skipped] up to the oldest event kept; null if no
  /// event follows yet.
  synchronized @Nullable TierEvent following(long sequence) {
    if (sequence >= lastSequence) {
      return null;
    }
    long oldest = Math.max(1, lastSequence - ring.length + 1);
    if (sequence + 1 < oldest) {
      return new TierEvent.Skipped(oldest - 1, oldest - 1 - sequence);
    }
    return ring[slot(sequence + 1)];
  }

  /// True if the log was closed and no event follows `sequence`, nor the end of a session with number `end`.
  synchronized boolean endsAt(long sequence, long end) {
    return closed && sequence >= lastSequence && end >= allEnds;
  }

  void leave(EventReader reader) {
    readers.remove(reader);
  }

  /// Readers that follow now.
  List<EventReader> readers() {
    return new ArrayList<>(readers);
  }

  @GuardedBy("this") private int slot(long sequence) {
    return (int) (sequence % ring.length);
  }
}
