package io.penstock.recording.check;

import io.penstock.recording.ElementType;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The slices of a window come in order: each counts one fewer that follow, and the granules of a block ascend.
final class LayersRule implements Rule.Checker {
  /// Slices that follow in a window of a stream.
  private final Map<Window, Long> remaining = new HashMap<>();
  /// First granule of the last slice of a block in a window.
  private final Map<Part, Long> granules = new HashMap<>();

  private record Window(long flow, long number) {}

  private record Part(Window window, Object block) {}

  @Override
  public @Nullable String broken(RecordedEvent event) {
    if (event.kind() == Kind.SLICE) {
      return slice(event, 0);
    }
    return event.kind() == Kind.FLOW_NEXT && ElementType.of(event) == ElementType.SLICE ? slice(event, 1) : null;
  }

  /// @param from place of the window among the numbers of `event`
  private @Nullable String slice(RecordedEvent event, int from) {
    Window window = new Window(event.flow(), event.number(from));
    long follow = event.number(from + 1);
    Long before = follow == 0 ? remaining.remove(window) : remaining.put(window, follow);
    if (before != null && follow != before - 1) {
      return "slices of window %d of %s must come in order: %d must follow this one (was %d)".formatted(window.number(),
          Streams.name(event), before - 1, follow);
    }
    if (before == null) {
      granules.keySet().removeIf(part -> part.window().equals(window));
    }
    long first = event.number(from + 2);
    for (Object key : event.keys()) {
      Long last = granules.put(new Part(window, key), first);
      if (last != null && first < last) {
        return "granules of block %s in %s must ascend (was %d after %d)".formatted(key, Streams.name(event), first,
            last);
      }
    }
    return null;
  }
}
