package io.penstock.recording.check;

import io.penstock.recording.RecordedEvent;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// No element comes after the reader of its stream has left.
final class CancelRule implements Rule.Checker {
  private final int underWay;
  /// Elements since then, by stream.
  private final Map<Long, Integer> left = new HashMap<>();

  /// @param underWay elements of a named flow that may still come: its source may be on another thread
  CancelRule(int underWay) {
    this.underWay = underWay;
  }

  @Override
  public @Nullable String broken(RecordedEvent event) {
    long flow = event.flow();
    if (Streams.begins(event) || Streams.isEnd(event)) {
      left.remove(flow);
    } else if (Streams.isCancel(event)) {
      left.putIfAbsent(flow, 0);
    } else if (Streams.isElement(event) && left.containsKey(flow)) {
      int more = left.merge(flow, 1, Integer::sum);
      int allowed = flow < 0 ? underWay : 0;
      return more > allowed
          ? "%s must have <= %d elements after its reader left (was %d)".formatted(Streams.name(event), allowed, more)
          : null;
    }
    return null;
  }
}
