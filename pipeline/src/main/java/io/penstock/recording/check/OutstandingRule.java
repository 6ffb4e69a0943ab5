package io.penstock.recording.check;

import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Requested elements that are to come are at most a number.
final class OutstandingRule implements Rule.Checker {
  private final String flow;
  private final long most;
  private final Map<Long, Long> outstanding = new HashMap<>();

  OutstandingRule(String flow, long most) {
    this.flow = flow;
    this.most = most;
  }

  @Override
  public @Nullable String broken(RecordedEvent event) {
    if (event.kind() == Kind.FLOW && event.text().equals(flow)) {
      outstanding.put(event.flow(), 0L);
      return null;
    }
    Long left = outstanding.get(event.flow());
    if (left == null) {
      return null;
    } else if (event.kind() == Kind.FLOW_NEXT && left > 0 && left < Long.MAX_VALUE) {
      outstanding.put(event.flow(), left - 1);
    } else if (event.kind() == Kind.FLOW_REQUEST) {
      long now = DemandRule.plus(left, event.number(0));
      outstanding.put(event.flow(), now);
      return now > most
          ? "elements of flow \"%s\" that are requested and to come must be <= %d (was %s)".formatted(flow, most,
              now == Long.MAX_VALUE ? "unbounded" : now)
          : null;
    }
    return null;
  }
}
