package io.penstock.node.recording;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/// One request from its lease to its last slice: what happened when, and what it waited for.
///
/// @param request number of the lease among those of the recording, from 0
/// @param flow number of its flow
/// @param event with which it begins
/// @param blocks that it asks for
/// @param hits of these that the tier had
/// @param nanos from the lease to the last slice
/// @param waits time of each cause; all together are the whole time
/// @param bars in the order in which they begin; times are nanoseconds after the lease
record Waterfall(String recording, long request, long flow, long event, int blocks, long hits, long nanos,
    Map<Cause, Long> waits, List<Bar> bars) {
  /// What a bar shows.
  enum Lane {
    LEASE,
    WINDOW,
    SLICES,
    READ,
    WRITE,
    PUT
  }

  /// What a request waits for at a moment.
  enum Cause {
    /// The reader has requested nothing.
    READER,
    /// A store reads its blocks.
    STORE,
    /// Its blocks are being put.
    PUT,
    /// The tier owes it something and neither reads nor waits for a put: room, or its turn.
    TIER
  }

  /// @param name such as *window 2*
  /// @param note such as *8 blocks*
  /// @param marks times of elements within the bar
  record Bar(Lane lane, String name, long start, long end, String note, List<Long> marks) {
    Bar {
      marks = List.copyOf(marks);
    }

    Bar within(long most) {
      return new Bar(lane, name, Math.min(start, most), Math.min(end, most), note,
          marks.stream().filter(mark -> mark <= most).toList());
    }
  }

  /// A stretch of time in which something is so.
  record Stretch(long start, long end) {
    boolean has(long from, long to) {
      return start <= from && to <= end;
    }
  }

  /// Divides the time from 0 to `nanos` among the causes.
  ///
  /// @param owed when the tier owed something
  /// @param reads when a store read a block of it
  /// @param puts when a block of it was put
  static Map<Cause, Long> waits(long nanos, List<Stretch> owed, List<Stretch> reads, List<Stretch> puts) {
    TreeSet<Long> cuts = new TreeSet<>(List.of(0L, nanos));
    for (List<Stretch> all : List.of(owed, reads, puts)) {
      all.forEach(each -> {
        cuts.add(Math.clamp(each.start(), 0, nanos));
        cuts.add(Math.clamp(each.end(), 0, nanos));
      });
    }
    Map<Cause, Long> waits = new EnumMap<>(Cause.class);
    for (Cause cause : Cause.values()) {
      waits.put(cause, 0L);
    }
    long from = 0;
    for (long to : cuts) {
      long start = from;
      if (to > start) {
        Cause cause = !any(owed, start, to)
            ? Cause.READER
            : any(reads, start, to) ? Cause.STORE : any(puts, start, to) ? Cause.PUT : Cause.TIER;
        waits.merge(cause, to - start, Long::sum);
      }
      from = to;
    }
    return waits;
  }

  private static boolean any(List<Stretch> stretches, long from, long to) {
    return stretches.stream().anyMatch(each -> each.has(from, to));
  }

  /// In the order in which they begin.
  static List<Bar> ordered(List<Bar> bars, long nanos) {
    List<Bar> ordered = new ArrayList<>(bars.stream().filter(bar -> bar.start() <= nanos).map(bar -> bar.within(nanos))
        .toList());
    ordered.sort(Comparator.comparingLong(Bar::start).thenComparing(Bar::lane).thenComparing(Bar::name));
    return List.copyOf(ordered);
  }
}
