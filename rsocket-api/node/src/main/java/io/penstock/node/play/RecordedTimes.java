package io.penstock.node.play;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.GranuleRange;
import io.penstock.node.tiers.PlayedTiers;
import io.penstock.recording.Player.PlayedStoreSpec;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.tier.Medium;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// How long stores and callers took in a recording, and what its stores read.
final class RecordedTimes {
  private final PlayedTiers world = new PlayedTiers();
  private final Map<Integer, List<PlayedStoreSpec>> stores = new HashMap<>();
  /// Latencies of the operations on a key, in order.
  private final Map<Operation, ArrayDeque<Long>> latencies = new HashMap<>();
  private final Map<Work, List<Long>> all = new HashMap<>();
  private final List<Long> untilPut = new ArrayList<>();
  private final List<Long> untilCommit = new ArrayList<>();
  private final List<Long> putBlocks = new ArrayList<>();
  // While the recording is read
  private final Map<Begun, RecordedEvent> begun = new HashMap<>();
  private final Map<Begun, Long> since = new HashMap<>();
  private final Map<BlockKey, Long> missed = new HashMap<>();
  private final Map<Long, List<BlockKey>> asked = new HashMap<>();
  private final Map<Long, Long> reserved = new HashMap<>();
  private final Set<Long> leases = new HashSet<>();
  private final Map<Long, Long> leasedAt = new HashMap<>();
  private final Map<Long, Long> lastElement = new HashMap<>();
  private final FlowFamily family = new FlowFamily();
  /// Leases that are not closed.
  private final Set<Long> openLeases = new HashSet<>();
  /// Streams that have not ended, and the lease of each.
  private final Map<Long, Long> openStreams = new HashMap<>();
  private long refused;
  private long misses;
  private long missesPut;
  private long moved;
  private long diskBytes;
  private long slowest;
  private long storeTroubles;

  /// Reads or writes of a medium.
  private record Work(Medium medium, Kind kind) {}

  /// Reads or writes that begin with a key.
  private record Operation(Medium medium, Kind kind, BlockKey key) {}

  /// An operation by its number.
  private record Begun(int tier, long store, long operation) {}

  RecordedTimes(Iterator<RecordedEvent> recording) {
    long now = 0;
    while (recording.hasNext()) {
      RecordedEvent event = recording.next();
      if (event.kind() == Kind.GAP) {
        break;
      }
      if (event.begins()) {
        now = event.at();
      }
      read(event, now);
    }
    lastElement.keySet().forEach(this::answered);
  }

  private void read(RecordedEvent event, long now) {
    family.add(event);
    switch (event.kind()) {
      case OPENED -> stores.put(event.tier(), world.stores(event));
      case STORE_PUT, STORE_READ -> {
        Begun operation = new Begun(event.tier(), event.number(0), event.number(1));
        begun.put(operation, event);
        since.put(operation, now);
        PlayedStoreSpec store = store(event);
        if (event.kind() == Kind.STORE_READ && store.medium() == Medium.DISK) {
          BlockLayout layout = store.space().layout();
          diskBytes += event.keys().size()
              * (long) GranuleRange.whole((int) event.number(2), (int) event.number(3)).bytes(layout);
        }
      }
      case STORE_DONE, STORE_FAILED -> ended(event, now);
      case STORE_DAMAGED, NOT_INTACT -> storeTroubles++;
      case LEASE, READ -> {
        asked.put(event.flow(), event.keys());
        leases.add(event.flow());
        leasedAt.put(event.flow(), now);
        openLeases.add(event.flow());
      }
      case WINDOWS, SLICED_WINDOWS, SLICES, BLOCKS -> openStreams.put(event.flow(), family.eldest(event.flow()));
      case ENDED, CANCEL -> openStreams.remove(event.flow());
      case FAILED -> {
        refused++;
        openStreams.remove(event.flow());
        openLeases.remove(event.flow());
      }
      case CLOSE -> openLeases.remove(event.flow());
      case LEASED -> {
        List<BlockKey> keys = asked.remove(event.flow());
        if (keys != null) {
          RecordedBits bits = RecordedBits.of(event, 0);
          for (int i = 0; i < keys.size(); i++) {
            if (!bits.has(RecordedBits.HITS, i)) {
              misses++;
              missed.putIfAbsent(keys.get(i), now);
            }
          }
        }
      }
      case RESERVE -> {
        putBlocks.add((long) event.keys().size());
        reserved.put(event.flow(), now);
        for (BlockKey key : event.keys()) {
          Long at = missed.remove(key);
          if (at != null) {
            missesPut++;
            untilPut.add(now - at);
          }
        }
      }
      case COMMIT -> {
        Long at = reserved.get(event.number(0));
        if (at != null) {
          untilCommit.add(now - at);
        }
      }
      case WINDOW, SLICE, BLOCK_LIST -> {
        long lease = family.eldest(event.flow());
        if (leases.contains(lease)) {
          lastElement.put(lease, now);
        }
      }
      case MOVED -> moved++;
      default -> {
        // Takes no time
      }
    }
  }

  private PlayedStoreSpec store(RecordedEvent event) {
    return requireNonNull(stores.get(event.tier()), "tier").get((int) event.number(0));
  }

  private void ended(RecordedEvent event, long now) {
    Begun operation = new Begun(event.tier(), event.number(0), event.number(1));
    RecordedEvent begin = begun.remove(operation);
    Long at = since.remove(operation);
    if (event.kind() == Kind.STORE_FAILED) {
      storeTroubles++;
    } else if (begin != null && at != null && !begin.keys().isEmpty()) {
      Medium medium = store(begin).medium();
      latencies.computeIfAbsent(new Operation(medium, begin.kind(), begin.keys().getFirst()),
          each -> new ArrayDeque<>()).add(now - at);
      all.computeIfAbsent(new Work(medium, begin.kind()), each -> new ArrayList<>()).add(now - at);
    }
  }

  private void answered(long lease) {
    slowest = Math.max(slowest, lastElement.getOrDefault(lease, 0L) - leasedAt.getOrDefault(lease, 0L));
  }

  /// Latency of an operation: that of the recorded ones on its first key, in turn, and the median of all if there are
  /// no more; 0 if no such operation was recorded.
  long latency(Medium medium, Kind kind, BlockKey first) {
    ArrayDeque<Long> ofKey = latencies.get(new Operation(medium, kind, first));
    Long next = ofKey == null ? null : ofKey.poll();
    return next != null ? next : median(all.get(new Work(medium, kind)), 0);
  }

  boolean knows(Medium medium, Kind kind) {
    return all.containsKey(new Work(medium, kind));
  }

  /// Median time from a miss to the reservation of its block.
  long untilPut() {
    return median(untilPut, 0);
  }

  /// Median time from a reservation to its commit.
  long untilCommit() {
    return median(untilCommit, 0);
  }

  /// Median number of the blocks that are put together.
  int putBlocks() {
    return (int) Math.max(1, median(putBlocks, 8));
  }

  /// Whether callers put most of the blocks that they missed.
  boolean putsMisses() {
    return 2 * missesPut >= misses;
  }

  long misses() {
    return misses;
  }

  long missesPut() {
    return missesPut;
  }

  /// Failed operations and damaged blocks.
  long storeTroubles() {
    return storeTroubles;
  }

  /// Leases that were not closed, or whose streams had not ended, at the end of the recording.
  long unanswered() {
    Set<Long> unanswered = new HashSet<>(openLeases);
    openStreams.values().stream().filter(leases::contains).forEach(unanswered::add);
    return unanswered.size();
  }

  /// Calls and streams that failed.
  long refused() {
    return refused;
  }

  long moved() {
    return moved;
  }

  long diskBytes() {
    return diskBytes;
  }

  long slowest() {
    return slowest;
  }

  private static long median(@Nullable List<Long> values, long otherwise) {
    if (values == null || values.isEmpty()) {
      return otherwise;
    }
    return values.stream().sorted().skip(values.size() / 2).findFirst().orElse(otherwise);
  }
}
