package io.penstock.node.play;

import io.penstock.block.BlockKey;
import io.penstock.recording.Difference;
import io.penstock.recording.RecordedEvent;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The first difference with its context, which is read from the recording again.
///
/// @param message the difference in one sentence
/// @param number of the event in the recording
/// @param expected event of the recording; null if it has none there
/// @param actual event that was played instead; null if none was
/// @param turn the event with which its turn begins
/// @param nanos time of the turn after the first event
/// @param before the last events before it
/// @param ofFlow the last events before it of its flow, and of the flows that it came from
/// @param key hash of its key, or of the first key of its turn; null if there is none
/// @param ofKey the last events before it that name this key
record DifferenceView(String message, long number, @Nullable EventView expected, @Nullable EventView actual,
    EventView turn, long nanos, List<EventView> before, List<EventView> ofFlow, @Nullable String key,
    List<EventView> ofKey) {
  /// Events kept of each kind of context.
  private static final int CONTEXT = 12;

  /// @param recording from its beginning
  static DifferenceView of(Difference difference, Iterator<RecordedEvent> recording) {
    RecordedEvent expected = difference.expected();
    RecordedEvent actual = difference.actual();
    long flow = Stream.of(expected, actual, difference.begin()).filter(event -> event != null && event.flow() != 0)
        .mapToLong(RecordedEvent::flow).findFirst().orElse(0);
    BlockKey key = Stream.of(expected, actual, difference.begin()).filter(event -> event != null)
        .flatMap(event -> event.keys().stream()).findFirst().orElse(null);
    FlowFamily family = new FlowFamily();
    ArrayDeque<EventView> last = new ArrayDeque<>();
    ArrayDeque<EventView> ofKey = new ArrayDeque<>();
    ArrayDeque<Placed> flows = new ArrayDeque<>();
    TurnTime times = new TurnTime();
    for (long number = 0; number < difference.number() && recording.hasNext(); number++) {
      RecordedEvent event = recording.next();
      times.of(event);
      family.add(event);
      keep(last, EventView.of(number, event));
      if (key != null && event.keys().contains(key)) {
        keep(ofKey, EventView.of(number, event));
      }
      if (event.flow() != 0) {
        flows.add(new Placed(number, event));
        if (flows.size() > RECENT) {
          flows.remove();
        }
      }
    }
    long eldest = family.eldest(flow);
    List<EventView> ofFlow = flow == 0
        ? List.of()
        : flows.stream().filter(each -> family.eldest(each.event().flow()) == eldest)
            .map(each -> EventView.of(each.number(), each.event())).toList();
    return new DifferenceView(difference.toString(), difference.number(), view(difference.number(), expected),
        view(difference.number(), actual), EventView.of(difference.turn(), difference.begin()),
        times.of(difference.begin()), List.copyOf(last),
        ofFlow.subList(Math.max(0, ofFlow.size() - CONTEXT), ofFlow.size()),
        key == null ? null : key.hash().toString(), List.copyOf(ofKey));
  }

  /// Events that are searched for those of the flow.
  private static final int RECENT = 1 << 16;

  private record Placed(long number, RecordedEvent event) {}

  private static void keep(ArrayDeque<EventView> kept, EventView event) {
    kept.add(event);
    if (kept.size() > CONTEXT) {
      kept.remove();
    }
  }

  private static @Nullable EventView view(long number, @Nullable RecordedEvent event) {
    return event == null ? null : EventView.of(number, event);
  }

  /// Lines for people.
  List<String> lines() {
    Stream<String> head =
        Stream.of("DIFFERENT: " + message, "  in the turn that begins with event %d, %s after the first: %s"
            .formatted(turn.number(), PlayText.seconds(nanos), turn.line()));
    Stream<String> context = Stream.of(section("the last events before it", before),
        section("the last events of flow " + flow(), ofFlow), section("the last events of key " + key, ofKey))
        .flatMap(each -> each);
    return Stream.concat(head, context).toList();
  }

  private long flow() {
    return Stream.of(expected, actual, turn).filter(event -> event != null && event.flow() != 0)
        .mapToLong(event -> event == null ? 0 : event.flow()).findFirst().orElse(0);
  }

  private static Stream<String> section(String title, List<EventView> events) {
    return events.isEmpty()
        ? Stream.of()
        : Stream.concat(Stream.of("  " + title + ":"),
            events.stream().map(event -> "    %d  %s".formatted(event.number(), event.line())));
  }
}
