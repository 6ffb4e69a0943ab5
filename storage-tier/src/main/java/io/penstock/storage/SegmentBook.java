package io.penstock.storage;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/// What each segment holds: how many records that count, and which removals. Used by the thread that appends.
///
/// A segment can go when none of its records counts. A removal in it is needed as long as the record that it removes exists; it is then
/// written anew before its segment goes.
final class SegmentBook {
  private final Map<Integer, Usage> segments = new HashMap<>();
  /// Segments of which nothing counts.
  private final TreeSet<Integer> empty = new TreeSet<>();

  private static final class Usage {
    private int live;
    private List<DeadRecord> removals = new ArrayList<>(0);
    /// As in [SyncLine#position()].
    private long copiedAt;
  }

  /// A segment that exists, also if nothing in it counts.
  void found(int segment) {
    usage(segment);
    empty.add(segment);
  }

  void written(int segment) {
    usage(segment).live++;
    empty.remove(segment);
  }

  void freed(int segment) {
    Usage usage = usage(segment);
    usage.live--;
    if (usage.live == 0) {
      empty.add(segment);
    }
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

  /// Segments of which nothing counts, but for the active one, oldest first.
  List<Integer> unneeded(int active) {
    return empty.stream().filter(number -> number != active).toList();
  }

  /// Removals in `segment` of records that exist elsewhere.
  List<DeadRecord> neededRemovals(int segment) {
    return usage(segment).removals.stream().filter(dead -> dead.segment() != segment && exists(dead.segment())).toList();
  }

  /// What [#neededRemovals] told of `segment` was written anew, and all that up to `position`.
  void removalsCopied(int segment, long position) {
    usage(segment).removals = new ArrayList<>(0);
    usage(segment).copiedAt = position;
  }

  /// Up to where the log must be on the medium before `segment` may go; 0 if it may at once.
  long copiedAt(int segment) {
    return usage(segment).copiedAt;
  }

  void deleted(int segment) {
    segments.remove(segment);
    empty.remove(segment);
  }

  private Usage usage(int segment) {
    return segments.computeIfAbsent(segment, number -> new Usage());
  }
}
