package io.penstock.node.recording;

import io.penstock.block.BlockKey;
import io.penstock.node.play.EventView;
import io.penstock.recording.RecordedEvent;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Names flows by what they are, not by their numbers, so that two recordings can be compared: the call with its keys,
/// or the name of a named flow, and how many of them came before. Reads the events of a recording in order.
final class FlowNames {
  private final Map<Long, String> names = new HashMap<>();
  private final Map<String, Integer> counts = new HashMap<>();

  /// The name of the flow of `event`; null if it belongs to none.
  @Nullable String of(RecordedEvent event) {
    long flow = event.flow();
    if (flow == 0) {
      return null;
    }
    switch (event.kind()) {
      case LEASE, RESERVE, REMOVE -> begin(flow, call(event));
      case READ, HOLD, PIN, TAKE, SWEEP, RELEASE -> begin(flow, name(event.number(0)) + " / " + call(event));
      case WINDOWS, SLICED_WINDOWS, SLICES, BLOCKS, COMMIT ->
        begin(flow, name(event.number(0)) + " / " + EventView.kind(event));
      case HOLDS, STAT, SHUT, SESSION -> begin(flow, EventView.kind(event));
      case FLOW -> begin(flow, "flow " + event.text());
      case WINDOW -> begin(event.number(0), name(flow) + " / window");
      default -> {
        // Begins none
      }
    }
    return name(flow);
  }

  private String name(long flow) {
    return names.computeIfAbsent(flow, each -> "a flow from before");
  }

  private void begin(long flow, String what) {
    int before = counts.merge(what, 1, Integer::sum);
    names.put(flow, before == 1 ? what : what + " #" + before);
  }

  /// A call with its keys: the last one stands for all before it in a prefix.
  private static String call(RecordedEvent event) {
    List<BlockKey> keys = event.keys();
    return keys.isEmpty()
        ? EventView.kind(event)
        : "%s of %d keys %s…%s".formatted(EventView.kind(event), keys.size(), keys.getFirst().hash(),
            keys.getLast().hash());
  }

  /// What is equal in two recordings of the same: the event without times, and without numbers of flows, slots, leases
  /// and events.
  static String signature(RecordedEvent event) {
    long[] numbers = WithoutPayloads.numbers(event);
    switch (event.kind()) {
      case READ, WINDOWS, SLICED_WINDOWS, SLICES, BLOCKS, COMMIT, WINDOW, HOLD, RELEASE, PIN, TAKE, SWEEP, READ_LEASE ->
        blank(numbers, 0, 1);
      case RESERVED -> blank(numbers, 0, 1, numbers.length);
      case RECEIPTS -> blank(numbers, 1, 2, numbers.length);
      case STORED, MOVED, EVICTED, REMOVED, LOST, LEVEL_DOWN, LEVEL_UP -> blank(numbers, 0, 1);
      default -> {
        // All numbers are those of the event itself
      }
    }
    if (event.kind() == RecordedEvent.Kind.READ || event.kind() == RecordedEvent.Kind.RELEASE) {
      blank(numbers, 1, 1, 2);
    }
    return new RecordedEvent(event.kind(), event.begins(), 0, event.tier(), 0, numbers, event.keys(), event.text())
        .toString() + event.keys().stream().map(key -> key.hash().toString()).collect(Collectors.joining(" "));
  }

  private static void blank(long[] numbers, int first, int step) {
    blank(numbers, first, step, first + 1);
  }

  private static void blank(long[] numbers, int first, int step, int end) {
    for (int i = first; i < Math.min(end, numbers.length); i += step) {
      numbers[i] = 0;
    }
  }
}
