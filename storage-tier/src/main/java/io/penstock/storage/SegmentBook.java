package io.penstock.storage;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/// What each segment holds: how many records that count, and which removals. Used by the thread that appends.
///
/// A segment can go when none of its records counts. A removal in it is needed as long as the record that it removes exists; it is then
/// written anew before its segment goes.
final class SegmentBook {
  private final TreeMap<Integer, Usage> segments = new TreeMap<>();

  private static final class Usage {
    private int live;
    private final List<DeadRecord> removals = new ArrayList<>(0);
  }

  /// A segment that exists, also if nothing in it counts.
  void found(int segment) {
    usage(segment);
  }

  void written(int segment) {
    usage(segment).live++;
  }

  void freed(int segment) {
    usage(segment).live--;
  }

  /// The removal of `dead` was written to `segment`.
  void removed(DeadRecord dead, int segment) {
    usage(segment).removals.add(dead);
  }

  boolean exists(int segment) {
    return segments.containsKey(segment);
  }

  /// Segments of which nothing counts, but for the active one, oldest first.
  List<Integer> unneeded(int active) {
    List<Integer> unneeded = new ArrayList<>(0);
    segments.forEach((number, usage) -> {
      if (usage.live == 0 && number != active) {
        unneeded.add(number);
      }
    });
    return unneeded;
  }

  /// Removals in `segment` of records that exist elsewhere.
  List<DeadRecord> neededRemovals(int segment) {
    return usage(segment).removals.stream().filter(dead -> dead.segment() != segment && exists(dead.segment())).toList();
  }

  void deleted(int segment) {
    segments.remove(segment);
  }

  private Usage usage(int segment) {
    return segments.computeIfAbsent(segment, number -> new Usage());
  }
}
