package io.penstock.storage.index;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.IntPredicate;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/// Counts what each segment holds: live records and removals. [LocationTable] knows which blocks these are. Used by the
/// thread that appends.
///
/// A segment can be deleted when none of its records counts. A removal is needed as long as the record that it names
/// exists: it is copied before its segment is deleted.
public final class SegmentIndex {
  private final TreeMap<Integer, Usage> segments = new TreeMap<>();
  /// Segments without a live record.
  private final TreeSet<Integer> empty = new TreeSet<>();
  /// The original of each moved record, by the sequence of the copy, as long as the original exists.
  private final Map<Long, DeadRecord> originals = new HashMap<>();
  /// Deleted segments, and when: until the delete is forced, a failure of the machine may bring them back.
  private final Map<Integer, Long> unforced = new HashMap<>();
  private long live;
  /// Number of records written.
  private long written;
  /// Maximum number of records of one segment.
  private int fullest = 1;

  private static final class Usage {
    private int live;
    private int total;
    /// Sequences of the copies of its records.
    private final List<Long> copies = new ArrayList<>(0);
    private List<DeadRecord> removals = new ArrayList<>(0);
    /// Its copies lie between these positions of the `SyncQueue`.
    private long copiedFrom;
    private long copiedAt;
    /// Number of records that were written before its newest one.
    private long age;
  }

  /// Adds a segment.
  void found(int segment) {
    usage(segment);
    empty.add(segment);
  }

  public void written(int segment) {
    Usage usage = usage(segment);
    usage.live++;
    usage.total++;
    fullest = Math.max(fullest, usage.total);
    usage.age = ++written;
    live++;
    empty.remove(segment);
  }

  public void freed(int segment) {
    Usage usage = usage(segment);
    usage.live--;
    live--;
    if (usage.live == 0) {
      empty.add(segment);
    }
  }

  /// Records that the record with sequence `to` is a copy of `from`, which is dead now.
  public void moved(DeadRecord from, long to) {
    originals.put(to, from);
    usage(from.segment()).copies.add(to);
    freed(from.segment());
  }

  /// The original of the record with `sequence`, if it still exists.
  public @Nullable DeadRecord original(long sequence) {
    return originals.get(sequence);
  }

  /// The removal of `dead` was written to `segment`.
  public void removed(DeadRecord dead, int segment) {
    if (!segments.containsKey(segment)) {
      found(segment); // it holds only removals
    }
    usage(segment).removals.add(dead);
  }

  public boolean exists(int segment) {
    return segments.containsKey(segment);
  }

  public int segments() {
    return segments.size();
  }

  /// Number of segments with a live record.
  public int needed() {
    return segments.size() - empty.size();
  }

  /// Live records.
  public long live() {
    return live;
  }

  /// The segment that is worth most to compact: with the largest (1 - u) × age / (1 + u), where u is the share that is
  /// live. 0 if all are fuller than `most`. This is the cost-benefit policy of the log-structured file system
  /// (Rosenblum and Ousterhout, SOSP '91), with the age counted in records and not in time.
  ///
  /// @param most share that may be live, of the records of the fullest segment ever seen
  /// @param readable whether a segment may be chosen
  public int victim(int active, double most, IntPredicate readable) {
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

  /// Segments without a live record, but for the active one, oldest first.
  public List<Integer> unneeded(int active) {
    return empty.stream().filter(number -> number != active).toList();
  }

  /// Removals in `segment` of records that exist in another segment, or may exist again after a failure of the machine.
  public List<DeadRecord> neededRemovals(int segment) {
    return usage(segment).removals.stream().filter(dead -> dead.segment() != segment
        && (exists(dead.segment()) || unforced.containsKey(dead.segment()))).toList();
  }

  /// Forgets deleted segments that cannot come back.
  ///
  /// @param isForced whether a moment that [#deleted] recorded is forced
  public void forced(LongPredicate isForced) {
    unforced.values().removeIf(isForced::test);
  }

  /// The removals of `segment` were copied.
  public void removalsCopied(int segment) {
    usage(segment).removals = new ArrayList<>(0);
  }

  /// Records of `segment` were copied: the bytes from `from` to `to` must be on the medium before the segment is
  /// deleted.
  public void copied(int segment, long from, long to) {
    Usage usage = usage(segment);
    usage.copiedFrom = usage.copiedAt == 0 ? from : usage.copiedFrom;
    usage.copiedAt = to;
  }

  /// The beginning of the first copy; see [#copied].
  public long copiedFrom(int segment) {
    return usage(segment).copiedFrom;
  }

  /// The end of the last copy; 0 if there is none.
  public long copiedAt(int segment) {
    return usage(segment).copiedAt;
  }

  /// @param moment of its deletion, for [#forced]
  public void deleted(int segment, long moment) {
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
