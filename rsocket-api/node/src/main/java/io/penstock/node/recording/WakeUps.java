package io.penstock.node.recording;

import io.penstock.block.BlockKey;
import io.penstock.node.play.RecordedBits;
import io.penstock.recording.RecordedEvent;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Finds streams that wait although their bytes are there: lost wake-ups. Reads the events of a recording in order.
///
/// Bytes of a block are there if it was committed to memory and has not left since, or if a store has read the part in
/// question since the window came. A stream of slices with demand must then have a slice at the end of the turn. A
/// recording does not say which window a store reads for: another one, or a move, may read the same block into memory
/// of its own. So nothing is judged while a read of the part in question is under way, which may be that of the stream.
final class WakeUps {
  private static final String MEMORY = "dram";

  private final Map<Long, List<BlockKey>> leases = new HashMap<>();
  private final Map<Long, Windows> windows = new HashMap<>();
  private final Map<Long, Window> open = new HashMap<>();
  private final Map<Long, Waiting> streams = new LinkedHashMap<>();
  private final Map<BlockKey, Set<Window>> byKey = new HashMap<>();
  private final Map<Operation, Read> reads = new HashMap<>();
  private final Set<Place> inMemory = new HashSet<>();

  private record Place(int tier, BlockKey key) {}

  private record Operation(int tier, long store, long number) {}

  private record Read(List<BlockKey> keys, int first, int count) {
    boolean hasPartOf(Waiting stream) {
      return stream.next >= first && stream.next < first + count
          && keys.stream().anyMatch(stream.window.keys::contains);
    }
  }

  /// The windows of a lease.
  private static final class Windows {
    private final List<BlockKey> keys;
    private int next;

    Windows(List<BlockKey> keys) {
      this.keys = keys;
    }
  }

  /// A window, with the parts of its blocks that stores have read for it.
  private static final class Window {
    private final List<BlockKey> keys;
    private final Map<BlockKey, BitSet> granules = new HashMap<>();

    Window(List<BlockKey> keys) {
      this.keys = keys;
    }
  }

  /// A stream of slices that has not ended.
  private static final class Waiting {
    private final int tier;
    private final Window window;
    private long demand;
    private int next;

    Waiting(int tier, Window window) {
      this.tier = tier;
      this.window = window;
    }
  }

  void add(RecordedEvent event) {
    long flow = event.flow();
    switch (event.kind()) {
      case LEASE, READ -> leases.put(flow, event.keys());
      case LEASED -> leases.computeIfPresent(flow, (each, keys) -> delivered(keys, event));
      case SLICED_WINDOWS -> windows.put(flow, new Windows(leases.getOrDefault(event.number(0), List.of())));
      case WINDOW -> window(event);
      case SLICES -> {
        Window window = open.get(event.number(0));
        if (window != null) {
          streams.put(flow, new Waiting(event.tier(), window));
        }
      }
      case REQUEST -> {
        Waiting stream = streams.get(flow);
        if (stream != null) {
          stream.demand = stream.demand + event.number(0) < 0 ? Long.MAX_VALUE : stream.demand + event.number(0);
        }
      }
      case SLICE -> {
        Waiting stream = streams.get(flow);
        if (stream != null) {
          stream.demand--;
          stream.next = (int) (event.number(2) + event.number(3));
        }
      }
      case ENDED, FAILED, CANCEL -> {
        streams.remove(flow);
        windows.remove(flow);
      }
      case CLOSE -> close(flow);
      case STORE_READ -> reads.put(operation(event),
          new Read(event.keys(), (int) event.number(2), (int) event.number(3)));
      case STORE_DONE -> done(reads.remove(operation(event)));
      case STORE_FAILED -> reads.remove(operation(event));
      case STORED -> place(event, event.text(), event.text());
      case MOVED -> {
        int to = event.text().indexOf(" > ");
        place(event, event.text().substring(0, to), event.text().substring(to + 3));
      }
      case EVICTED, REMOVED, LOST -> inMemory.remove(new Place(event.tier(), event.keys().getFirst()));
      default -> {
        // Tells nothing of streams
      }
    }
  }

  private static Operation operation(RecordedEvent event) {
    return new Operation(event.tier(), event.number(0), event.number(1));
  }

  /// The keys that the windows of a lease have.
  private static List<BlockKey> delivered(List<BlockKey> keys, RecordedEvent leased) {
    RecordedBits bits = RecordedBits.of(leased, 0);
    List<BlockKey> delivered = new ArrayList<>();
    for (int i = 0; i < keys.size(); i++) {
      int position = i;
      if (bits.presences().stream().anyMatch(presence -> presence.get(position))) {
        delivered.add(keys.get(i));
      }
    }
    return delivered;
  }

  private void window(RecordedEvent event) {
    Windows from = windows.get(event.flow());
    int size = (int) event.number(1);
    if (from == null || from.next + size > from.keys.size()) {
      return;
    }
    Window window = new Window(from.keys.subList(from.next, from.next + size));
    from.next += size;
    open.put(event.number(0), window);
    window.keys.forEach(key -> byKey.computeIfAbsent(key, each -> new HashSet<>()).add(window));
  }

  private void close(long flow) {
    leases.remove(flow);
    Window window = open.remove(flow);
    if (window != null) {
      window.keys.forEach(key -> byKey.computeIfPresent(key, (each, all) -> {
        all.remove(window);
        return all.isEmpty() ? null : all;
      }));
    }
  }

  private void done(@Nullable Read read) {
    if (read == null) {
      return;
    }
    for (BlockKey key : read.keys()) {
      byKey.getOrDefault(key, Set.of()).forEach(window -> window.granules.computeIfAbsent(key, each -> new BitSet())
          .set(read.first(), read.first() + read.count()));
    }
  }

  private void place(RecordedEvent event, String from, String to) {
    Place place = new Place(event.tier(), event.keys().getFirst());
    if (!isInMemory(to)) {
      inMemory.remove(place);
    } else if (isInMemory(from) && event.kind() == RecordedEvent.Kind.STORED) {
      inMemory.add(place);
    }
  }

  private static boolean isInMemory(String levels) {
    return List.of(levels.split("\\+")).contains(MEMORY);
  }

  /// A stream that waits although its bytes are there, at the end of a turn; null if there is none.
  @Nullable String broken() {
    for (Map.Entry<Long, Waiting> each : streams.entrySet()) {
      Waiting stream = each.getValue();
      if (stream.demand > 0 && !stream.window.keys.isEmpty() && isThere(stream)) {
        return "flow %d must have a slice: its reader has requested %d, and bytes of all %d blocks are there (has none)"
            .formatted(each.getKey(), stream.demand, stream.window.keys.size());
      }
    }
    return null;
  }

  private boolean isThere(Waiting stream) {
    return stream.window.keys.stream().allMatch(key -> inMemory.contains(new Place(stream.tier, key))
        || stream.window.granules.getOrDefault(key, new BitSet()).get(stream.next))
        && reads.values().stream().noneMatch(read -> read.hasPartOf(stream));
  }
}
