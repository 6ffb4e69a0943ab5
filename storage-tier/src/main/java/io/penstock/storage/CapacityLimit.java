package io.penstock.storage;

import io.penstock.storage.engine.EngineFailure.StorageFullException;
import io.penstock.storage.index.SegmentIndex;
import java.util.function.BooleanSupplier;

/// Keeps a journal's segments within its capacity, and its disk from filling up. A put that needs another segment waits
/// for compaction or, where compaction gives nothing, until the owner gives blocks up. One segment stays free for
/// compaction. Used by the thread that appends.
final class CapacityLimit {
  /// Segments' worth of blocks that one put may replace on a disk that is too full: the blocks given up first may lie
  /// in several segments.
  private static final int MOST_GIVEN = 2;

  private final String place;
  private final ReclaimOptions options;
  private final long segmentBytes;
  private final SegmentIndex index;
  private final JournalLog log;
  private final Reclaimer reclaimer;
  private final DiskWatermarks watermarks;
  private BooleanSupplier relief = () -> false;

  CapacityLimit(SegmentIndex index, JournalLog log, Reclaimer reclaimer, DiskWatermarks watermarks,
      JournalOptions options) {
    this.watermarks = watermarks;
    this.place = "tier " + options.name();
    this.options = options.reclaim();
    this.segmentBytes = options.segments().segmentBytes();
    this.index = index;
    this.log = log;
    this.reclaimer = reclaimer;
  }

  /// Asks the owner for room when compaction gives none.
  ///
  /// @param giveBack gives blocks up; false if the owner has none to give
  void relieve(BooleanSupplier giveBack) {
    relief = giveBack;
  }

  /// Makes sure that there is room for another record. If the journal is at its capacity, the owner gives blocks up. If
  /// the disk is too full, the journal does not grow: new blocks take the place of one segment of older ones. Where
  /// that makes no room, because other programs have filled the disk, the put fails and all stored blocks stay.
  ///
  /// @throws StorageFullException if every segment is needed and nearly full, and the owner gives nothing up
  void require() {
    if (options.capacityBytes() == ReclaimOptions.UNLIMITED && !watermarks.isWatched()) {
      return;
    }
    long most = options.capacityBytes() == ReclaimOptions.UNLIMITED
        ? Long.MAX_VALUE
        : options.capacityBytes() / segmentBytes - 1;
    int start = index.segments();
    int fruitless = 0;
    int given = 0;
    while (log.mayBeginSegment() && (index.segments() + 1 > most || !fitsDisk(start))) {
      int before = index.segments();
      if (!reclaimer.hasVictim() && before == index.needed()) {
        boolean mayGive = before + 1 > most || (watermarks.mayReplace() && given < MOST_GIVEN);
        given++;
        if (!mayGive || !relief.getAsBoolean()) {
          requireBelow(most);
          return; // the engine knows what the disk has
        }
        fruitless = 0;
        continue;
      }
      long moved = reclaimer.step(Long.MAX_VALUE);
      log.deleteNow();
      fruitless = moved == 0 && index.segments() == before ? fruitless + 1 : 0;
      if (fruitless > before) { // each segment was tried; a sweep must come first
        requireBelow(most);
        return;
      }
    }
  }

  /// Whether the disk has room for one more segment than now, or the journal has one segment less than at `start`.
  private boolean fitsDisk(int start) {
    return index.segments() < start || watermarks.hasRoom();
  }

  private void requireBelow(long most) {
    if (index.segments() + 1 > most) {
      throw full(most);
    }
  }

  private StorageFullException full(long most) {
    return new StorageFullException(place, segmentBytes, Math.max(0, most - index.segments()) * segmentBytes, null);
  }
}
