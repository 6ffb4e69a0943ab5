package io.penstock.recording.check;

import io.penstock.recording.RecordedEvent;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Elements are at most as many as were requested.
final class DemandRule implements Rule.Checker {
  /// What was requested and has not come, by stream.
  private final Map<Long, Long> outstanding = new HashMap<>();

  @Override
  public @Nullable String broken(RecordedEvent event) {
    long flow = event.flow();
    if (Streams.begins(event) && Streams.hasDemand(event)) {
      outstanding.put(flow, 0L);
      return null;
    }
    Long left = outstanding.get(flow);
    if (left == null) {
      return null;
    } else if (Streams.isRequest(event)) {
      outstanding.put(flow, plus(left, event.number(0)));
    } else if (Streams.isEnd(event)) {
      outstanding.remove(flow);
    } else if (Streams.isElement(event)) {
      if (left == 0) {
        return Streams.name(event) + " must have no more elements than were requested (had one more)";
      }
      outstanding.put(flow, left == Long.MAX_VALUE ? left : left - 1);
    }
    return null;
  }

  static long plus(long left, long requested) {
    return requested <= 0 ? left : left > Long.MAX_VALUE - requested ? Long.MAX_VALUE : left + requested;
  }
}
