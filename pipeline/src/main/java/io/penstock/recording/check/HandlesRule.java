package io.penstock.recording.check;

import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Each lease, window and reservation of a tier is closed, once.
final class HandlesRule implements Rule.Checker {
  private final Map<Long, RecordedEvent> open = new LinkedHashMap<>();

  @Override
  public @Nullable String broken(RecordedEvent event) {
    switch (event.kind()) {
      case LEASED, RESERVED, HOLDS -> open.put(event.flow(), event);
      case WINDOW -> open.put(event.number(0), event);
      case BLOCKS -> open.remove(event.number(0)); // the blocks of a window take its place
      case CLOSE -> open.remove(event.flow());
      default -> {
        // no handle
      }
    }
    return null;
  }

  @Override
  public @Nullable String brokenAtEnd() {
    RecordedEvent first = open.values().stream().filter(event -> event.kind() != Kind.HOLDS).findFirst().orElse(null);
    return first == null ? null : "each handle must be closed (the first that was not is of " + first + ")";
  }
}
