package io.penstock.storage;

import io.penstock.KvException;
import io.penstock.storage.engine.RecordUnreadableException;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.engine.StorageFailedException;
import java.io.EOFException;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// Moves live blocks out of segments that are mostly dead, a step at a time, as [ReclaimOptions] say. Used by the
/// thread that appends.
///
/// A block's record is read and compared, written anew with a sequence of its own, and only then the table is changed.
/// What is found damaged is not copied, but lost as [LostRecords] says. A segment that cannot be read is left for a
/// while; a record that the disk does not give, although it gives others of the same segment, or these are few, and it
/// gives none of them, is lost, and the blocks behind it are moved.
final class Reclaimer {
  /// A segment that is fuller is left alone: moving would take nearly what it gives.
  private static final double FULLEST = 0.95;
  /// A victim is read no further when so many of its other blocks failed: three failures in a row are the disk's.
  private static final int MOST_FAILED = SuspectRecords.TOO_MANY - 1;
  /// So many other blocks are looked at. Where the disk gives none, no more may be left for them to be given up.
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
  /// Blocks of the victim, beside those that were to be moved, that could not be read.
  private int failed;
  /// Whether the disk gave another record of the victim when one failed.
  private boolean gave;
  private final DiskWatermarks watermarks;
  private boolean draining;
  private long movedBytes;
  private long reclaimed;
  private long corrupt;
  /// What keeps segments from being emptied.
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

  /// Whether there is too much dead on the disk, and a segment that is worth moving.
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

  /// Whether the journal takes more than it is to have, or the disk is too full.
  boolean isPressed() {
    return draining || watermarks.isTooHigh();
  }

  /// Whether segments of which nothing counts wait for readers, or for a sync.
  boolean isDeleting() {
    return !index.unneeded(engine.activeSegment()).isEmpty();
  }

  /// Blocks that a segment takes.
  int blocksASegment() {
    return (int) Math.max(1, segmentBytes / recordBytes);
  }

  /// Has the segment that is appended to go, too, if nothing in it counts.
  ///
  /// @return whether it will
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

  /// Moves blocks of at most `bytes`, or one. Ends behind the first that is kept aside, for which the medium is waited
  /// for several times.
  ///
  /// @return bytes written, also of what was kept aside, and as many for what was given up; 0 if there is nothing to
  ///     move, nothing of it was left, or it could not be read
  /// @throws io.penstock.KvException if the disk is full or fails; tried again at the next call
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

  /// A block that is still in the victim: each is gone from there when it was moved, found damaged, or given up by its
  /// owner.
  private int next() {
    return victim > 0 ? locations.first(victim) : LocationTable.NONE;
  }

  /// Whether the next step, if nothing is wanted, would find a victim.
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
      if (lost.lose(number, from, e)) { // its owner hears of it with the next read: the key cannot be had
        index.freed(from.segment());
      }
    }
    return recordBytes; // also of what was lost: as much was read
  }

  /// A file that was cut short gives nothing later, either.
  private static boolean isCutShort(RecordUnreadableException e) {
    return e.getCause() instanceof EOFException;
  }

  /// Whether it is not the whole segment that the disk does not give: it gives another block of the victim, or each of
  /// the few that are left was tried as often as this one.
  private boolean mayGiveUp(int number) {
    if (gave) {
      return true;
    }
    int[] others = IntStream.of(locations.numbers(victim)).filter(each -> each != number).toArray();
    int[] untold = IntStream.of(others).filter(each -> !isTold(each)).toArray();
    int at = untold.length - 1; // the last, the middle one, …, the first: what cannot be read lies side by side
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

  /// Milliseconds until a segment may be tried that could not be read, if any has to wait; else 0.
  long retryInMillis() {
    return unreadable.waitMillis();
  }

  /// The disk is healthy again.
  void retryNow() {
    unreadable.tryAll();
  }

  /// @param failure of the newest attempt to move or to delete
  SpaceStat stat(@Nullable KvException failure) {
    return new SpaceStat(index.segments(), segmentBytes, index.live() * recordBytes, log.userBytes(), movedBytes,
        reclaimed, corrupt,
        lost.unreadable(), failure != null ? failure : unreadable.isAny(index::exists) ? unread : null);
  }
}
