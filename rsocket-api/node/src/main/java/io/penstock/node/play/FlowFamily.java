package io.penstock.node.play;

import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/// Which flow came from which: a lease, its windows, the slices of a window; a reservation, its commits. Reads the
/// events of a recording in order.
final class FlowFamily {
  private final Map<Long, Long> parents = new HashMap<>();

  void add(RecordedEvent event) {
    switch (event.kind()) {
      case WINDOWS, SLICED_WINDOWS, SLICES, BLOCKS, COMMIT -> parents.put(event.flow(), event.number(0));
      case WINDOW -> parents.put(event.number(0), event.flow());
      default -> {
        // Has no parent
      }
    }
  }

  /// The flow that `flow` came from in the end.
  long eldest(long flow) {
    long eldest = flow;
    for (Long parent = parents.get(eldest); parent != null; parent = parents.get(eldest)) {
      eldest = parent;
    }
    return eldest;
  }

  /// Whether `flow`, or a flow that it came from, is one of `flows`.
  boolean isOf(long flow, Set<Long> flows) {
    Long each = flow;
    while (each != null && !flows.contains(each)) {
      each = parents.get(each);
    }
    return each != null;
  }

  /// The flows of one number, or of one name: that of named flows, or the kind of the call that began them.
  static final class Chosen {
    private final String word;
    private final FlowFamily family = new FlowFamily();
    private final Set<Long> chosen = new HashSet<>();

    /// @param word the number or the name
    Chosen(String word) {
      this.word = word.strip();
      if (this.word.matches("-?[0-9]{1,18}")) {
        chosen.add(Long.parseLong(this.word));
      }
    }

    /// Reads the next event.
    ///
    /// @return whether it is of a chosen flow, or of one that came from it
    boolean has(RecordedEvent event) {
      family.add(event);
      long flow = event.flow();
      if (flow == 0) {
        return false;
      }
      boolean called = event.begins() && event.kind() != Kind.REQUEST && event.kind() != Kind.CANCEL
          && event.kind() != Kind.CLOSE && word.replace('-', ' ').equalsIgnoreCase(EventView.kind(event));
      boolean named = called || (event.kind() == Kind.FLOW && event.text().equals(word));
      if (named || family.isOf(flow, chosen)) {
        chosen.add(flow);
        return true;
      }
      return false;
    }
  }
}
