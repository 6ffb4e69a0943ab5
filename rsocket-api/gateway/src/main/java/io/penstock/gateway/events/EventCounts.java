package io.penstock.gateway.events;

import java.util.Arrays;
import java.util.concurrent.atomic.LongAdder;

/// Counts of a publisher's events. Any thread.
public final class EventCounts {
  private final LongAdder[] counts = new LongAdder[EventCount.values().length];

  EventCounts() {
    Arrays.setAll(counts, i -> new LongAdder());
  }

  /// One count.
  public long of(EventCount count) {
    return counts[count.ordinal()].sum();
  }

  void add(EventCount count, long more) {
    counts[count.ordinal()].add(more);
  }

  void increment(EventCount count) {
    counts[count.ordinal()].increment();
  }

  /// The counts that are not 0.
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    for (EventCount count : EventCount.values()) {
      if (of(count) != 0) {
        text.append(text.isEmpty() ? "" : ", ").append(count).append(' ').append(of(count));
      }
    }
    return text.toString();
  }
}
