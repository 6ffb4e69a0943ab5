package io.penstock.tier;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.check.Checks;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;

/// The newest events of a tier in a ring, and the readers that follow it, each with its own position and demand.
///
/// Memory is the ring, however slow a reader: one that falls behind gets [TierEvent.Skipped]. [#append] only records,
/// so it may run under a lock; [#signal()] emits and must not.
final class EventLog {
  @GuardedBy("this") private final TierEvent[] ring;
  private final List<EventReader> readers = new CopyOnWriteArrayList<>();
  @GuardedBy("this") private long lastSequence;
  @GuardedBy("this") private boolean closed;

  EventLog(int capacity) {
    Checks.positive("capacity", capacity);
    this.ring = new TierEvent[capacity];
  }

  /// Records the next event and answers its sequence number.
  synchronized long append(LongFunction<TierEvent> event) {
    long sequence = ++lastSequence;
    ring[slot(sequence)] = event.apply(sequence);
    return sequence;
  }

  synchronized long lastSequence() {
    return lastSequence;
  }

  /// Has every reader emit what was recorded.
  void signal() {
    for (EventReader reader : readers) {
      reader.drain();
    }
  }

  /// Ends every reader after what was recorded.
  void close() {
    synchronized (this) {
      closed = true;
    }
    signal();
  }

  Flux<TierEvent> after(long sequence) {
    Checks.notNegative("sequence", sequence);
    return Flux.from(subscriber -> {
      EventReader reader = new EventReader(this, subscriber, sequence);
      readers.add(reader);
      subscriber.onSubscribe(reader);
      reader.open();
    });
  }

  /// The event that follows `sequence`, or the gap up to the oldest one kept; null if there is none yet.
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

  /// True if the log was closed and nothing follows `sequence`.
  synchronized boolean endsAt(long sequence) {
    return closed && sequence >= lastSequence;
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
