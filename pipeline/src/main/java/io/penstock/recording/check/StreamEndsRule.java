package io.penstock.recording.check;

import io.penstock.recording.RecordedEvent;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Each stream ends, or its reader leaves.
final class StreamEndsRule implements Rule.Checker {
  private final Map<Long, RecordedEvent> open = new LinkedHashMap<>();

  @Override
  public @Nullable String broken(RecordedEvent event) {
    if (Streams.begins(event)) {
      open.put(event.flow(), event);
    } else if (Streams.isEnd(event) || Streams.isCancel(event)) {
      open.remove(event.flow());
    }
    return null;
  }

  @Override
  public @Nullable String brokenAtEnd() {
    return open.isEmpty()
        ? null
        : "each stream must end (%d did not, the first is %s)".formatted(open.size(), open.values().iterator().next());
  }
}
