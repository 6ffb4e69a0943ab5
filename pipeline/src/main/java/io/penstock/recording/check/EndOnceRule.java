package io.penstock.recording.check;

import io.penstock.recording.RecordedEvent;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Nothing follows the end of a stream. A reader may leave, or ask for more, after an end that it has not seen yet.
final class EndOnceRule implements Rule.Checker {
  private final Set<Long> ended = new HashSet<>();

  @Override
  public @Nullable String broken(RecordedEvent event) {
    if (Streams.isEnd(event)) {
      return ended.add(event.flow()) ? null : Streams.name(event) + " must end once (ended again)";
    }
    return Streams.isElement(event) && ended.contains(event.flow())
        ? Streams.name(event) + " must have no element after its end (had one)"
        : null;
  }
}
