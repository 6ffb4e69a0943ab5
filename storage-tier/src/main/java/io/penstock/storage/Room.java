package io.penstock.storage;

import io.penstock.storage.engine.StorageFullException;

/// Keeps a journal's segments within its capacity: whoever would begin one too many waits until blocks were moved together. One segment is
/// left for that. Used by the thread that appends.
final class Room {
  private final String place;
  private final ReclaimOptions options;
  private final long segmentBytes;
  private final SegmentBook book;
  private final JournalLog log;
  private final Reclaimer reclaimer;

  Room(SegmentBook book, JournalLog log, Reclaimer reclaimer, JournalOptions options) {
    this.place = "tier " + options.name();
    this.options = options.reclaim();
    this.segmentBytes = options.segments().segmentBytes();
    this.book = book;
    this.log = log;
    this.reclaimer = reclaimer;
  }

  /// Makes sure that there is room for another record.
  ///
  /// @throws StorageFullException if all segments are needed, and nearly full
  void require() {
    if (options.capacityBytes() == ReclaimOptions.UNLIMITED) {
      return;
    }
    long most = options.capacityBytes() / segmentBytes - 1;
    int fruitless = 0;
    while (book.segments() + 1 > most && log.mayBeginSegment()) {
      if (!reclaimer.hasVictim() && book.segments() == book.needed()) {
        throw full(most);
      }
      int before = book.segments();
      long moved = reclaimer.step(Long.MAX_VALUE);
      log.deleteNow();
      fruitless = moved == 0 && book.segments() == before ? fruitless + 1 : 0;
      if (fruitless > before) { // each was tried: what could be gained is not known here before the next sweep
        throw full(most);
      }
    }
  }

  private StorageFullException full(long most) {
    return new StorageFullException(place, segmentBytes, Math.max(0, most - book.segments()) * segmentBytes, null);
  }
}
