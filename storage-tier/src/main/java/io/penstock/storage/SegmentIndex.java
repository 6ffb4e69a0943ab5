package io.penstock.storage;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.IntPredicate;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/// What each segment holds: how many records that count, and which removals; whose they are, [LocationTable] knows.
/// Used by the thread that appends.
///
/// A segment can go when none of its records counts. A removal in it is needed as long as the record that it removes
/// exists; it is then written anew before its segment goes.
final class SegmentIndex {
  private final TreeMap<Integer, Usage> segments = new TreeMap<>();
  /// Segments of which nothing counts.
  private final TreeSet<Integer> empty = new TreeSet<>();
  /// By the sequence of a record that was moved: the one that it is a copy of, as long as that exists.
  private final Map<Long, DeadRecord> originals = new HashMap<>();
  /// Segments that were deleted, and when: until that is forced, a failure of the machine may bring them back.
  private final Map<Integer, Long> unforced = new HashMap<>();
  private long live;
  /// Records written.
  private long written;
  /// Most records of one segment.
  private int fullest = 1;

  private static final class Usage {
    private int live;
    private int total;
    /// Sequences of copies of its records.
    private final List<Long> copies = new ArrayList<>(0);
    private List<DeadRecord> removals = new ArrayList<>(0);
    /// As in [SyncQueue#position()]: its copies lie between these.
    private long copiedFrom;
    private long copiedAt;
    /// How many records were written before its last one.
    private long age;
  }

  /// A segment that exists, also if nothing in it counts.
  void found(int segment) {
    usage(segment);
    empty.add(segment);
  }

  void written(int segment) {
    Usage usage = usage(segment);
    usage.live++;
    usage.total++;
    fullest = Math.max(fullest, usage.total);
    usage.age = ++written;
    live++;
    empty.remove(segment);
  }

  void freed(int segment) {
    Usage usage = usage(segment);
    usage.live--;
    live--;
    if (usage.live == 0) {
      empty.add(segment);
    }
  }

  /// The record `from` counts no more, since the one with sequence `to` is its copy.
  void moved(DeadRecord from, long to) {
    originals.put(to, from);
    usage(from.segment()).copies.add(to);
    freed(from.segment());
  }

  /// What `sequence` is a copy of, if that still exists.
  @Nullable DeadRecord original(long sequence) {
    return originals.get(sequence);
  }

  /// The removal of `dead` was written to `segment`.
  void removed(DeadRecord dead, int segment) {
    if (!segments.containsKey(segment)) {
      found(segment); // one of nothing but removals
    }
    usage(segment).removals.add(dead);
  }

  boolean exists(int segment) {
    return segments.containsKey(segment);
  }

  int segments() {
    return segments.size();
  }

  /// Segments of which something counts.
  int needed() {
    return segments.size() - empty.size();
  }

  /// Records that count.
  long live() {
    return live;
  }

  /// The segment whose going is worth most for what it costs: (1 - u) × age / (1 + u), where u is the share of it that
  /// counts. 0 if all are fuller than `most`.
  ///
  /// @param most share that may count; a full segment is one with as many records as any that was seen
  /// @param readable which may be chosen
  int victim(int active, double most, IntPredicate readable) {
    int best = 0;
    double bestWorth = -1;
    for (Map.Entry<Integer, Usage> each : segments.entrySet()) {
      Usage usage = each.getValue();
      if (each.getKey() != active && usage.live > 0 && usage.live <= most * fullest
          && readable.test(each.getKey())) {
        double share = (double) usage.live / fullest;
        double worth = (1 - share) * (written - usage.age + 1) / (1 + share);
        if (worth > bestWorth) {
          bestWorth = worth;
          best = each.getKey();
        }
      }
    }
    return best;
  }

  /// Segments of which nothing counts, but for the active one, oldest first.
  List<Integer> unneeded(int active) {
    return empty.stream().filter(number -> number != active).toList();
  }

  /// Removals in `segment` of records that exist elsewhere, or may again after a failure of the machine.
  List<DeadRecord> neededRemovals(int segment) {
    return usage(segment).removals.stream().filter(dead -> dead.segment() != segment
        && (exists(dead.segment()) || unforced.containsKey(dead.segment()))).toList();
  }

  /// Forgets deleted segments whose names will not come back.
  ///
  /// @param isForced answers for the moments told to [#deleted]
  void forced(LongPredicate isForced) {
    unforced.values().removeIf(isForced::test);
  }

  /// What [#neededRemovals] told of `segment` was written anew.
  void removalsCopied(int segment) {
    usage(segment).removals = new ArrayList<>(0);
  }

  /// Something of `segment` was written anew: all between `from` and `to` must be on the medium before it may go.
  void copied(int segment, long from, long to) {
    Usage usage = usage(segment);
    usage.copiedFrom = usage.copiedAt == 0 ? from : usage.copiedFrom;
    usage.copiedAt = to;
  }

  /// As in [#copied]; the first time counts.
  long copiedFrom(int segment) {
    return usage(segment).copiedFrom;
  }

  /// As in [#copied]; 0 if it may go at once.
  long copiedAt(int segment) {
    return usage(segment).copiedAt;
  }

  /// @param moment of its deletion, for [#forced]
  void deleted(int segment, long moment) {
    unforced.put(segment, moment);
    Usage usage = segments.remove(segment);
    if (usage != null) {
      usage.copies.forEach(originals::remove);
    }
    empty.remove(segment);
  }

  private Usage usage(int segment) {
    return segments.computeIfAbsent(segment, number -> new Usage());
  }
}
