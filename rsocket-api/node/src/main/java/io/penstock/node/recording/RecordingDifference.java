package io.penstock.node.recording;

import io.penstock.node.cli.Console;
import io.penstock.node.play.EventView;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.DigestException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The first differences between two recordings: in the decisions of their tiers, which have one order, and in the
/// events of each flow, whatever the order of the flows.
///
/// @param a the first recording
/// @param b the second
/// @param decisions in which both agree, up to the first difference
/// @param decision the first that differs; null if none does
/// @param flows that both have, with equal events
/// @param differing flows that both have, with other events
/// @param onlyA number of flows that only the first has
/// @param onlyB number of flows that only the second has
/// @param missing names of some of them
/// @param flow the first difference in a flow, in the order of the first recording; null if there is none
record RecordingDifference(String a, String b, long decisions, @Nullable Place decision, long flows, long differing,
    long onlyA, long onlyB, List<String> missing, @Nullable Place flow) {
  private static final int CONTEXT = 6;
  private static final int MOST_FLOWS = 1 << 10;
  private static final int MOST_NAMES = 20;
  private static final Set<Kind> DECISIONS = Set.of(Kind.STORED, Kind.MOVED, Kind.EVICTED, Kind.REMOVED, Kind.LOST,
      Kind.LEVEL_DOWN, Kind.LEVEL_UP);

  /// A difference.
  ///
  /// @param name of the flow, or `decisions`
  /// @param index of the event in the flow, or among the decisions, from 0
  /// @param a event of the first recording; null if it has ended there
  /// @param b event of the second
  /// @param before events before it, equal in both; numbers are those of the first recording
  record Place(String name, long index, @Nullable EventView a, @Nullable EventView b, List<EventView> before) {}

  boolean isEqual() {
    return decision == null && differing == 0 && onlyA == 0 && onlyB == 0;
  }

  /// Compares two recordings.
  static RecordingDifference of(Path a, Path b, Console console) {
    Decisions decided = decisions(a, b);
    Map<String, ByteBuffer> flowsA = sums(a, console);
    Map<String, ByteBuffer> flowsB = sums(b, console);
    List<String> onlyA = flowsA.keySet().stream().filter(name -> !flowsB.containsKey(name)).toList();
    List<String> onlyB = flowsB.keySet().stream().filter(name -> !flowsA.containsKey(name)).toList();
    List<String> differing = flowsA.entrySet().stream()
        .filter(each -> flowsB.containsKey(each.getKey()) && !flowsB.get(each.getKey()).equals(each.getValue()))
        .map(Map.Entry::getKey).toList();
    return new RecordingDifference(a.toString(), b.toString(), decided.equal, decided.first,
        flowsA.size() - onlyA.size() - differing.size(), differing.size(), onlyA.size(), onlyB.size(),
        Stream.concat(onlyA.stream(), onlyB.stream()).limit(MOST_NAMES).toList(),
        differing.isEmpty() ? null : first(a, b, differing));
  }

  private record Decisions(long equal, @Nullable Place first) {}

  private static Decisions decisions(Path a, Path b) {
    return Recordings.read(a, ofA -> Recordings.read(b, ofB -> {
      Decided left = new Decided(ofA);
      Decided right = new Decided(ofB);
      ArrayDeque<EventView> before = new ArrayDeque<>();
      for (long index = 0;; index++) {
        RecordedEvent one = left.next();
        RecordedEvent other = right.next();
        if (one == null && other == null) {
          return new Decisions(index, null);
        }
        if (one == null || other == null || !FlowNames.signature(one).equals(FlowNames.signature(other))) {
          return new Decisions(index, new Place("decisions", index, left.view(one), right.view(other),
              List.copyOf(before)));
        }
        keep(before, EventView.of(left.number - 1, one));
      }
    }));
  }

  private static void keep(ArrayDeque<EventView> before, EventView event) {
    before.add(event);
    if (before.size() > CONTEXT) {
      before.remove();
    }
  }

  /// The decisions of a recording.
  private static final class Decided {
    private final Iterator<RecordedEvent> events;
    private long number;

    Decided(Iterator<RecordedEvent> events) {
      this.events = events;
    }

    @Nullable RecordedEvent next() {
      while (events.hasNext()) {
        RecordedEvent event = events.next();
        number++;
        if (DECISIONS.contains(event.kind())) {
          return event;
        }
      }
      return null;
    }

    @Nullable EventView view(@Nullable RecordedEvent event) {
      return event == null ? null : EventView.of(number - 1, event);
    }
  }

  /// SHA-256 of the events of each flow, as a chain: the digest so far and the next event make the next digest.
  private static final class FlowSums {
    private static final int BYTES = 32;

    private final Map<String, byte[]> sums = new LinkedHashMap<>();
    private final MessageDigest sha;

    FlowSums() {
      try {
        sha = MessageDigest.getInstance("SHA-256");
      } catch (NoSuchAlgorithmException e) {
        throw new IllegalStateException(e); // every JDK has it
      }
    }

    void add(String flow, String signature) {
      byte[] sum = sums.computeIfAbsent(flow, each -> new byte[BYTES]);
      sha.update(sum);
      sha.update(signature.getBytes(StandardCharsets.UTF_8));
      try {
        sha.digest(sum, 0, BYTES);
      } catch (DigestException e) {
        throw new IllegalStateException(e); // there is room
      }
    }

    Map<String, ByteBuffer> sums() {
      Map<String, ByteBuffer> all = new LinkedHashMap<>();
      sums.forEach((flow, sum) -> all.put(flow, ByteBuffer.wrap(sum)));
      return all;
    }
  }

  private static Map<String, ByteBuffer> sums(Path place, Console console) {
    FlowSums sums = new FlowSums();
    FlowNames names = new FlowNames();
    Recordings.forEach(place, console, "compare", (number, event) -> {
      String name = names.of(event);
      if (name != null) {
        sums.add(name, FlowNames.signature(event));
      }
    });
    return sums.sums();
  }

  /// The first difference of the flows `differing`, in the order of the first recording.
  private static @Nullable Place first(Path a, Path b, List<String> differing) {
    Set<String> searched = new HashSet<>(differing.subList(0, Math.min(MOST_FLOWS, differing.size())));
    Map<String, List<Signed>> ofA = events(a, searched);
    Map<String, List<Signed>> ofB = events(b, searched);
    Map<Long, Place> places = new TreeMap<>();
    ofA.forEach((name, events) -> {
      List<Signed> others = ofB.getOrDefault(name, List.of());
      int same = 0;
      while (same < Math.min(events.size(), others.size())
          && events.get(same).signature().equals(others.get(same).signature())) {
        same++;
      }
      EventView one = same < events.size() ? events.get(same).view() : null;
      EventView other = same < others.size() ? others.get(same).view() : null;
      places.put(one == null ? events.getLast().view().number() + 1 : one.number(),
          new Place(name, same, one, other,
              events.subList(Math.max(0, same - CONTEXT), same).stream().map(Signed::view).toList()));
    });
    return places.isEmpty() ? null : places.values().iterator().next();
  }

  /// An event, and what of it is equal in equal recordings.
  private record Signed(EventView view, String signature) {}

  private static Map<String, List<Signed>> events(Path place, Set<String> names) {
    Map<String, List<Signed>> events = new HashMap<>();
    FlowNames flows = new FlowNames();
    Recordings.read(place, reader -> {
      for (long number = 0; reader.hasNext(); number++) {
        RecordedEvent event = reader.next();
        String name = flows.of(event);
        if (name != null && names.contains(name)) {
          events.computeIfAbsent(name, each -> new ArrayList<>()).add(
              new Signed(EventView.of(number, event), FlowNames.signature(event)));
        }
      }
      return true;
    });
    return events;
  }

  /// For people.
  String text() {
    if (isEqual()) {
      return "%s and %s: equal in %,d decisions and %,d flows".formatted(a, b, decisions, flows);
    }
    StringBuilder text = new StringBuilder("%s and %s differ%n".formatted(a, b));
    text.append(decision == null
        ? "decisions: %,d, all equal%n".formatted(decisions)
        : "decisions: the first %,d are equal%n".formatted(decisions));
    place(text, decision);
    text.append("flows: %,d are equal, %,d differ, %,d are only in the first, %,d only in the second%n".formatted(flows,
        differing, onlyA, onlyB));
    place(text, flow);
    missing.forEach(name -> text.append("  only in one: ").append(name).append('\n'));
    return text.toString().stripTrailing();
  }

  private static void place(StringBuilder text, @Nullable Place place) {
    if (place == null) {
      return;
    }
    text.append("  ").append(place.name()).append('\n');
    place.before().forEach(event -> text.append("    = ").append(line(event)).append('\n'));
    text.append("    A ").append(line(place.a())).append('\n');
    text.append("    B ").append(line(place.b())).append('\n');
  }

  private static String line(@Nullable EventView event) {
    return event == null ? "the end" : "%9d  %s".formatted(event.number(), event.line());
  }
}
