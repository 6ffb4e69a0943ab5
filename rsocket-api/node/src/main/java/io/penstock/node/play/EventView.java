package io.penstock.node.play;

import io.penstock.block.BlockKey;
import io.penstock.recording.RecordedEvent;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/// An event as JSON.
///
/// @param number in the recording, from 0
/// @param kind such as `moved`
/// @param begins whether a turn begins with it
/// @param atNanos time of the turn that it begins, on the recorded clock; 0 for other events
/// @param keys hashes of its keys
/// @param line the event in one line
public record EventView(long number, String kind, boolean begins, long atNanos, int tier, long flow, List<Long> numbers,
    List<String> keys, String text, String line) {
  public static EventView of(long number, RecordedEvent event) {
    return new EventView(number, kind(event), event.begins(), event.at(), event.tier(), event.flow(),
        IntStream.range(0, event.size()).mapToObj(event::number).toList(),
        event.keys().stream().map(BlockKey::hash).map(Object::toString).toList(), event.text(), event.toString());
  }

  /// Name of the kind of `event`, as a line shows it.
  public static String kind(RecordedEvent event) {
    return event.kind().name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
