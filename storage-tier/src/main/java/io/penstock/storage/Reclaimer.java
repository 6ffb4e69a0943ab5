package io.penstock.storage;

import io.penstock.KvException;
import io.penstock.block.BlockCorruptException;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.engine.StorageFailedException;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/// Moves live blocks out of segments that are mostly dead, a step at a time, as [ReclaimOptions] say. Used by the thread that appends.
///
/// A block's record is read and compared, written anew with a sequence of its own, and only then its rest is switched. What is found
/// damaged is not copied: whoever reads the block hears of it.
final class Reclaimer {
  /// A segment that is fuller is left alone: moving would take nearly what it gives.
  private static final double FULLEST = 0.95;

  private final SegmentEngine engine;
  private final SegmentBook book;
  private final JournalLog log;
  private final RecordMover mover;
  private final ReclaimOptions options;
  private final long segmentBytes;
  private final int recordBytes;
  private int victim;
  private final ArrayDeque<JournalRest> left = new ArrayDeque<>();
  private boolean draining;
  private long movedBytes;
  private long reclaimed;
  private long corrupt;

  Reclaimer(SegmentEngine engine, SegmentBook book, JournalLog log, RecordMover mover, JournalOptions options) {
    this.engine = engine;
    this.book = book;
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
    double held = (double) book.needed() * segmentBytes;
    if (options.capacityBytes() != ReclaimOptions.UNLIMITED) {
      draining = held > (draining ? options.lowWater() : options.highWater()) * options.capacityBytes();
    }
    return draining || held > options.mostSpread() * book.live() * recordBytes + 2.0 * segmentBytes;
  }

  private int pick() {
    return book.victim(engine.activeSegment(), FULLEST);
  }

  /// Moves blocks of at most `bytes`, or one.
  ///
  /// @return bytes written; 0 if there is nothing to move, or nothing of it was left
  /// @throws io.penstock.KvException if the disk is full or fails; tried again at the next call
  long step(long bytes) {
    if (victim == 0) {
      begin();
    }
    long done = 0;
    while (!left.isEmpty() && (done == 0 || done + recordBytes <= bytes)) {
      done += move(left.getFirst());
      left.removeFirst();
    }
    if (victim > 0 && left.isEmpty()) {
      victim = 0;
      reclaimed++;
    }
    return done;
  }

  private void begin() {
    victim = pick();
    if (victim > 0) {
      left.addAll(book.rests(victim));
    }
  }

  /// Whether the next step, if nothing is wanted, would find a victim.
  boolean hasVictim() {
    return victim > 0 || pick() > 0;
  }

  private long move(JournalRest rest) {
    Place from = rest.place();
    if (from.segment() != victim) {
      return 0; // closed, or moved before
    }
    BlockCorruptException damage = read(rest, from);
    if (damage == null) {
      log.move(rest, from, mover);
      movedBytes += recordBytes;
      return recordBytes;
    }
    if (rest.lose(from, damage)) {
      corrupt++;
      book.freed(from.segment());
    }
    return 0;
  }

  private @Nullable BlockCorruptException read(JournalRest rest, Place from) {
    try {
      mover.read(rest, from);
      return null;
    } catch (BlockCorruptException e) {
      return e;
    } catch (StorageFailedException e) {
      book.unreadable(victim);
      victim = 0;
      left.clear();
      throw e;
    }
  }

  /// @param failure of whoever tried to move or to delete
  SpaceStat stat(@Nullable KvException failure) {
    return new SpaceStat(book.segments(), segmentBytes, book.live() * recordBytes, log.userBytes(), movedBytes, reclaimed, corrupt, failure);
  }
}
