package io.penstock.node.play;

import io.penstock.block.BlockKey;
import io.penstock.node.text.TextTable;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.tier.TierStat;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Consumer;

/// What is open in played tiers at a moment: streams, handles, operations of stores, blocks. Reads the events that the
/// tiers make.
public final class TierWatch {
  private final Map<Long, Stream> streams = new LinkedHashMap<>();
  private final Map<Long, EventView> handles = new LinkedHashMap<>();
  private final Map<Operation, EventView> operations = new LinkedHashMap<>();
  private final Map<Integer, Map<BlockKey, String>> blocks = new TreeMap<>();
  private final Map<Integer, String> tiers = new TreeMap<>();
  private long number;

  private record Operation(int tier, long store, long number) {}

  /// A stream that has not ended.
  private static final class Stream {
    private final EventView begin;
    private long requested;
    private long came;

    Stream(EventView begin) {
      this.begin = begin;
    }
  }

  /// A stream and its demand.
  ///
  /// @param begin the event that began it
  /// @param requested elements; -1 for an answer, which is requested at once
  /// @param came elements that came
  public record OpenStream(EventView begin, long requested, long came) {}

  /// What is open in a tier.
  ///
  /// @param stat its figures; levels fastest first
  /// @param blocks hashes of the visible blocks by the levels that hold them; blocks that a store had kept from before
  ///     are left out
  /// @param streams that have not ended
  /// @param handles leases, windows, reservations and holds that are open
  /// @param operations of its stores that have not ended
  public record State(int tier, TierStat stat, Map<String, List<String>> blocks, List<OpenStream> streams,
      List<EventView> handles, List<EventView> operations) {}

  public void add(RecordedEvent event) {
    EventView view = EventView.of(number++, event);
    long flow = event.flow();
    switch (event.kind()) {
      case OPENED -> tiers.put(event.tier(), event.text());
      case LEASE, READ, WINDOWS, SLICED_WINDOWS, SLICES, BLOCKS, RESERVE, COMMIT, REMOVE, HOLD, RELEASE, PIN, TAKE,
          SWEEP, STAT, SHUT, SESSION, FLOW ->
        streams.put(flow, new Stream(view));
      case REQUEST, FLOW_REQUEST -> on(flow, stream -> stream.requested += event.number(0));
      case ENDED, FAILED, CANCEL, FLOW_COMPLETE, FLOW_ERROR, FLOW_CANCEL -> streams.remove(flow);
      case LEASED, RESERVED -> {
        handles.put(flow, view);
        on(flow, stream -> stream.came++);
      }
      case HOLDS -> handles.put(flow, view);
      case WINDOW -> {
        handles.put(event.number(0), view);
        on(flow, stream -> stream.came++);
      }
      case BLOCK_LIST -> on(flow, stream -> {
        stream.came++;
        if (stream.begin.kind().equals("blocks")) { // its window has handed over its blocks
          handles.remove(stream.begin.numbers().getFirst());
        }
      });
      case SLICE, ANSWER, FLOW_NEXT -> on(flow, stream -> stream.came++);
      case CLOSE -> handles.remove(flow);
      case STORE_PUT, STORE_READ, STORE_SHUT ->
        operations.put(new Operation(event.tier(), event.number(0), event.number(1)), view);
      case STORE_DONE, STORE_FAILED ->
        operations.remove(new Operation(event.tier(), event.number(0), event.number(1)));
      case STORED, MOVED, EVICTED, REMOVED, LOST -> place(event);
      default -> {
        // Opens and ends nothing
      }
    }
  }

  private void on(long flow, Consumer<Stream> change) {
    Stream stream = streams.get(flow);
    if (stream != null) {
      change.accept(stream);
    }
  }

  private void place(RecordedEvent event) {
    Map<BlockKey, String> ofTier = blocks.computeIfAbsent(event.tier(), tier -> new LinkedHashMap<>());
    BlockKey key = event.keys().getFirst();
    if (event.kind() == Kind.STORED) {
      ofTier.put(key, event.text());
    } else if (event.kind() == Kind.MOVED) {
      ofTier.put(key, event.text().substring(event.text().indexOf("> ") + 2));
    } else {
      ofTier.remove(key);
    }
  }

  /// The state of each open tier.
  ///
  /// @param stats figures of the tiers, by number
  public List<State> states(Map<Integer, TierStat> stats) {
    List<State> states = new ArrayList<>();
    stats.forEach((tier, stat) -> {
      Map<String, List<String>> byLevels = new TreeMap<>();
      blocks.getOrDefault(tier, Map.of()).forEach(
          (key, levels) -> byLevels.computeIfAbsent(levels, each -> new ArrayList<>()).add(key.hash().toString()));
      states.add(new State(tier, stat, byLevels,
          streams.values().stream().filter(stream -> stream.begin.tier() == tier).map(TierWatch::view).toList(),
          handles.values().stream().filter(handle -> handle.tier() == tier).toList(),
          operations.values().stream().filter(operation -> operation.tier() == tier).toList()));
    });
    return states;
  }

  private static OpenStream view(Stream stream) {
    boolean asks = switch (stream.begin.kind()) {
      case "windows", "sliced windows", "slices", "sweep", "flow" -> true;
      default -> false;
    };
    return new OpenStream(stream.begin, asks ? stream.requested : -1, stream.came);
  }

  /// `state` for people.
  public static String text(State state) {
    TierStat stat = state.stat();
    StringBuilder text = new StringBuilder("tier %d: %,d blocks, %,d hits, %,d misses, %,d evicted, %,d damaged%n"
        .formatted(state.tier(), stat.blocks(), stat.hits(), stat.misses(), stat.evicted(), stat.corrupt()));
    TextTable levels = new TextTable("LEVEL", "BLOCKS", "CAPACITY", "STORED", "HITS", "ARRIVED", "HEALTH");
    stat.levels().forEach(level -> levels.row(level.name(), level.blocks(),
        level.capacityBlocks() == Long.MAX_VALUE ? "unbounded" : (Object) level.capacityBlocks(), level.storedBlocks(),
        level.hits(), level.arrived(), level.health().state().name().toLowerCase(Locale.ROOT)
            + Objects.requireNonNullElse(level.health().problem(), "")));
    text.append(levels);
    TierStat.Holds holds = stat.holds();
    text.append("read leases: %,d, of %,d blocks; pins: %,d soft, %,d hard; queue for the disk: %,d blocks%n".formatted(
        holds.leases(), holds.leasedBlocks(), holds.softPinned(), holds.hardPinned(), stat.tiering().queuedBlocks()));
    list(text, "reads and writes of stores that have not ended",
        state.operations().stream().map(EventView::line).toList());
    list(text, "open streams", state.streams().stream().map(TierWatch::line).toList());
    list(text, "open leases, windows, reservations and holds", state.handles().stream().map(EventView::line).toList());
    return text.toString().stripTrailing();
  }

  private static String line(OpenStream stream) {
    return stream.begin().line()
        + (stream.requested() < 0 ? "" : ": %,d requested, %,d came".formatted(stream.requested(), stream.came()));
  }

  private static void list(StringBuilder text, String what, List<String> lines) {
    text.append(what).append(": ").append(lines.isEmpty() ? "none" : "%,d".formatted(lines.size())).append('\n');
    lines.forEach(line -> text.append("  ").append(line).append('\n'));
  }
}
