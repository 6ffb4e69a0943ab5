package io.penstock.storage;

import io.penstock.KvException;
import io.penstock.storage.disk.SuspectRecords;
import io.penstock.storage.disk.UnreadableSegments;
import io.penstock.storage.engine.EngineFailure.RecordUnreadableException;
import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.index.CrcMismatch;
import io.penstock.storage.index.LocationTable;
import io.penstock.storage.index.RecordLocation;
import io.penstock.storage.index.SegmentIndex;
import java.io.EOFException;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// Compaction: moves live blocks out of segments that are mostly dead, a step at a time, as [ReclaimOptions] say. Used
/// by the thread that appends.
///
/// A move reads and compares a record, appends it with a new sequence, and then changes the table. A damaged record is
/// lost as [LostRecords] says, not copied. A segment that cannot be read is left for a while. A record is lost, and the
/// rest moved, if the disk gives another record of the same segment or, where only few are left, gives none of them.
final class Reclaimer {
  /// Maximum share of live bytes; a fuller segment stays, because moving it would write nearly as much as it frees.
  private static final double FULLEST = 0.95;
  /// Number of other failures after which the victim is left: three failures in a row turn the disk off.
  private static final int MOST_FAILED = SuspectRecords.TOO_MANY - 1;
  /// Maximum number of other blocks that are tried. If the disk gives none of them, a record is given up only where no
  /// more are left.
  private static final int FEW = 8;

  private final SegmentEngine engine;
  private final SegmentIndex index;
  private final LocationTable locations;
  private final JournalLog log;
  private final RecordMover mover;
  private final LostRecords lost;
  private final UnreadableSegments unreadable;
  private final ReclaimOptions options;
  private final long segmentBytes;
  private final int recordBytes;
  private int victim;
  /// Other blocks of the victim that could not be read.
  private int failed;
  /// Whether the disk gave another record of the victim after a failure.
  private boolean gave;
  private final DiskWatermarks watermarks;
  private boolean draining;
  private long movedBytes;
  private long reclaimed;
  private long corrupt;
  /// Why a segment could not be emptied.
  private @Nullable KvException unread;

  Reclaimer(SegmentEngine engine, SegmentIndex index, LocationTable locations, JournalLog log, RecordMover mover,
      LostRecords lost,
      UnreadableSegments unreadable, JournalOptions options, DiskWatermarks watermarks) {
    this.lost = lost;
    this.unreadable = unreadable;
    this.watermarks = watermarks;
    this.engine = engine;
    this.index = index;
    this.locations = locations;
    this.log = log;
    this.mover = mover;
    this.options = options.reclaim();
    this.segmentBytes = options.segments().segmentBytes();
    this.recordBytes = mover.recordBytes();
  }

  /// Whether too much is dead, and a segment is worth moving.
  boolean isWanted() {
    return victim > 0 || (isTooMuch() && pick() > 0);
  }

  private boolean isTooMuch() {
    double held = (double) index.needed() * segmentBytes;
    if (options.capacityBytes() != ReclaimOptions.UNLIMITED) {
      draining = held > (draining ? options.lowWatermark() : options.highWatermark()) * options.capacityBytes();
    }
    return isPressed() || held > options.mostSpread() * index.live() * recordBytes + 2.0 * segmentBytes;
  }

  /// Whether the journal exceeds its capacity, or the disk is too full.
  boolean isPressed() {
    return draining || watermarks.isTooHigh();
  }

  /// Whether the journal exceeds its own capacity.
  boolean isOverCapacity() {
    return draining;
  }

  /// Whether segments without a live record wait for a sync.
  boolean isDeleting() {
    return !index.unneeded(engine.activeSegment()).isEmpty();
  }

  /// Blocks that fit a segment.
  int blocksASegment() {
    return (int) Math.max(1, segmentBytes / recordBytes);
  }

  /// Ends the active segment if nothing in the journal counts.
  ///
  /// @return whether the segment will be deleted
  boolean endsActive() {
    if (index.live() > 0 || engine.activeSegment() == 0 || index.segments() == 0) {
      return false;
    }
    engine.roll();
    return true;
  }

  private int pick() {
    return index.victim(engine.activeSegment(), FULLEST, unreadable::mayTry);
  }

  /// Moves blocks of at most `bytes`, or one block. Ends after a damaged one, which takes longer.
  ///
  /// @return bytes of the records that were moved or lost; 0 if there was nothing to move, or the victim could not be
  ///     read
  /// @throws io.penstock.KvException if the disk is full or fails; the next call tries again
  long step(long bytes) {
    if (victim == 0) {
      victim = pick();
      failed = 0;
      gave = false;
    }
    long done = 0;
    long before = corrupt;
    int next = next();
    while (next != LocationTable.NONE && corrupt == before && (done == 0 || done + recordBytes <= bytes)) {
      done += move(next);
      next = next();
    }
    if (victim > 0 && next == LocationTable.NONE) {
      unreadable.forget(victim);
      victim = 0;
      reclaimed++;
    }
    return done;
  }

  /// A block that is still in the victim.
  private int next() {
    return victim > 0 ? locations.first(victim) : LocationTable.NONE;
  }

  /// Whether the next step would find a victim.
  boolean hasVictim() {
    return victim > 0 || pick() > 0;
  }

  private long move(int number) {
    RecordLocation from = locations.locationIn(victim, number);
    if (from == null) {
      return 0; // closed meanwhile
    }
    try {
      CrcMismatch flaw = read(from);
      if (flaw == null) {
        log.move(number, from, mover);
        movedBytes += recordBytes;
      } else {
        lose(number, from, flaw);
      }
    } catch (RecordUnreadableException e) {
      if (!isCutShort(e) && !mayGiveUp(number)) {
        leave(e);
        return 0;
      }
      if (lost.lose(number, from, e)) { // its owner hears of it with the next read: the key is unknown
        index.freed(from.segment());
      }
    }
    return recordBytes; // a lost record was read, too
  }

  /// A file that was cut short will not give the record later.
  private static boolean isCutShort(RecordUnreadableException e) {
    return e.getCause() instanceof EOFException;
  }

  /// Whether the disk gives another block of the victim, or each of the few that are left was tried as often as this
  /// one.
  private boolean mayGiveUp(int number) {
    if (gave) {
      return true;
    }
    int[] others = IntStream.of(locations.numbers(victim)).filter(each -> each != number).toArray();
    int[] untold = IntStream.of(others).filter(each -> !isTold(each)).toArray();
    int at = untold.length - 1; // the last, the middle one, …: unreadable records lie side by side
    for (int asked = 0; at >= 0 && asked < FEW && failed < MOST_FAILED; asked++) {
      gave = isGiven(untold[at]);
      if (gave) {
        return true;
      }
      at = at == 0 ? -1 : at / 2;
    }
    return untold.length == 0 && others.length <= FEW;
  }

  private boolean isTold(int number) {
    RecordLocation location = locations.locationIn(victim, number);
    return location != null && lost.isUnreadable(location);
  }

  private boolean isGiven(int number) {
    RecordLocation location = locations.locationIn(victim, number);
    try {
      if (location != null) {
        mover.read(location);
      }
      return location != null;
    } catch (StorageFailedException | RecordUnreadableException e) {
      failed++;
      return false;
    }
  }

  private @Nullable CrcMismatch read(RecordLocation from) {
    try {
      return mover.read(from);
    } catch (StorageFailedException e) {
      leave(e);
      throw e;
    }
  }

  private void leave(KvException why) {
    unread = why;
    unreadable.failed(victim);
    victim = 0;
  }

  private void lose(int number, RecordLocation from, CrcMismatch flaw) {
    lost.lose(number, from, mover, flaw, dead -> {
      corrupt++;
      index.freed(dead.segment());
    });
  }

  /// Milliseconds until an unreadable segment may be tried again; 0 if none has to wait.
  long retryInMillis() {
    return unreadable.waitMillis();
  }

  /// The disk is healthy again.
  void retryNow() {
    unreadable.tryAll();
  }

  /// @param failure of the newest move or delete
  DiskUse stat(@Nullable KvException failure) {
    return new DiskUse(index.segments(), index.segments() * segmentBytes, index.live() * recordBytes, log.userBytes(),
        movedBytes, reclaimed, corrupt, failure != null ? failure : unreadable.isAny(index::exists) ? unread : null);
  }
}
