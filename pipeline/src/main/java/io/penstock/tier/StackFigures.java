package io.penstock.tier;

import io.penstock.tier.StackEntry.Resident;
import java.util.ArrayList;
import java.util.List;

/// Counts of a [TierStack], kept as things happen, so that asking costs nothing. Guarded by the stack's lock.
final class StackFigures {
  private final List<Level> levels;
  private final int host;
  private final long[] hitsOfLevel;
  private final long[] arrivals;
  private final long[] visibleOfLevel;
  private final long[] restingOnLevel;
  private long visible;
  /// Blocks, visible or still leased, whose bytes are in stores alone.
  private long restingOnly;
  long hits;
  long misses;
  long stored;
  long evicted;
  long corrupt;
  /// Hits that did not make a block rise.
  long held;
  long prefetched;
  long prefetchedUseful;
  long prefetchedWasted;
  long givenBack;

  StackFigures(List<Level> levels, int host) {
    this.levels = levels;
    this.host = host;
    this.hitsOfLevel = new long[levels.size()];
    this.arrivals = new long[levels.size()];
    this.visibleOfLevel = new long[levels.size()];
    this.restingOnLevel = new long[levels.size()];
  }

  void hit(int level) {
    hitsOfLevel[level]++;
  }

  void arrived(int level) {
    arrivals[level]++;
  }

  /// Blocks that `resident` adds to the visible ones of its level: 1 or −1.
  void shown(Resident resident, int more) {
    shown(resident.level, more);
  }

  /// The same of a block on `level` whose place has just a number in the books.
  void shown(int level, int more) {
    visible += more;
    visibleOfLevel[level] += more;
  }

  /// Counts a block that rests in the last store alone.
  void cold() {
    restingOnLevel[restingOnLevel.length - 1]++;
    restingOnly++;
  }

  /// `resident` was made of the number of its place in the last store: it is counted already.
  void warmed(Resident resident) {
    resident.counted[restingOnLevel.length - 1] = true;
    resident.restingOnly = true;
  }

  /// Counts `resident` anew after its bytes came or went somewhere.
  void counted(Resident resident) {
    for (int level = 0; level < restingOnLevel.length; level++) {
      boolean now = level == host ? resident.host != null && resident.atHost : resident.places[level] != null;
      if (now != resident.counted[level]) {
        resident.counted[level] = now;
        restingOnLevel[level] += now ? 1 : -1;
      }
    }
    boolean only = resident.host == null && resident.fastestPlace() >= 0;
    if (only != resident.restingOnly) {
      resident.restingOnly = only;
      restingOnly += only ? 1 : -1;
    }
  }

  TierStat stat(StackBooks books) {
    long blockBytes = books.blockBytes();
    return new TierStat(visible, books.info.capacityBlocks(), visible * blockBytes,
        (books.memory.arena.claimedSlots() + restingOnly) * blockBytes, hits, misses, stored, evicted, corrupt,
        books.events.lastSequence(), levelStats(books),
        books.queue.stat(held, prefetched, prefetchedUseful, prefetchedWasted, givenBack));
  }

  private List<LevelStat> levelStats(StackBooks books) {
    List<LevelStat> stats = new ArrayList<>(levels.size());
    for (int i = 0; i < levels.size(); i++) {
      Level level = levels.get(i);
      stats.add(new LevelStat(level.name(), level.medium(), level.capacityBlocks(), visibleOfLevel[i],
          restingOnLevel[i], hitsOfLevel[i],
          arrivals[i], books.docks.health(i), books.docks.copies(i), books.docks.diskStat(i)));
    }
    return stats;
  }
}
