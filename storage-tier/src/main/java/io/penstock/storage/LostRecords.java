package io.penstock.storage;

import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import io.penstock.storage.check.Damage;
import io.penstock.storage.check.DamageKind;
import io.penstock.storage.disk.SuspectRecords;
import io.penstock.storage.engine.EngineFailure.RecordUnreadableException;
import io.penstock.storage.engine.Location;
import io.penstock.storage.index.CrcMismatch;
import io.penstock.storage.index.DeadRecord;
import io.penstock.storage.index.LocationTable;
import io.penstock.storage.index.RecordLocation;
import io.penstock.storage.record.RecordName;
import io.penstock.tier.spi.BlockUnreadableException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/// Loses blocks whose records are damaged, or that the disk does not give. Each block is counted once, whether a
/// reader, the scrub or compaction finds it first. Damaged bytes go to the quarantine. Safe from any thread.
final class LostRecords {
  private final LocationTable locations;
  private final SpaceId space;
  private final DamageCopies copies;
  private final SuspectRecords suspects;
  private final String boundary;
  private final AtomicLong read = new AtomicLong();
  private final AtomicLong unreadable = new AtomicLong();
  private volatile Consumer<BlockKey> heard = key -> {};

  /// @param boundary named in errors
  LostRecords(LocationTable locations, SpaceId space, DamageCopies copies, SuspectRecords suspects, String boundary) {
    this.locations = locations;
    this.space = space;
    this.copies = copies;
    this.suspects = suspects;
    this.boundary = boundary;
  }

  /// Reports to `owner` each block that is lost without a reader.
  void report(Consumer<BlockKey> owner) {
    heard = owner;
  }

  /// Loses the block of `number`. `records` holds its record, which has `flaw`.
  ///
  /// A damaged head may name the wrong hash: then the owner learns of the loss when it reads the block.
  ///
  /// @param freed receives the record before the owner does, unless the block has been released
  void lose(int number, RecordLocation location, RecordMover records, CrcMismatch flaw, Consumer<DeadRecord> freed) {
    BlockKey key = new BlockKey(space, records.key().hash());
    Location at = location.at();
    Damage damage = records.isHeadOf(location)
        ? flaw.damage(at, key, location.sequence())
        : Damage.unknown(at.segment(), at.offset(), at.length(), DamageKind.HEAD, flaw.reason());
    if (isLost(number, key, location, flaw, damage, freed)) {
      heard.accept(key);
    }
  }

  /// Loses the block of `number`, which a reader found damaged. The owner learns it from the reader.
  void loseRead(int number, BlockKey key, RecordLocation location, CrcMismatch flaw, Consumer<DeadRecord> freed) {
    if (isLost(number, key, location, flaw, flaw.damage(location.at(), key, location.sequence()), freed)) {
      read.incrementAndGet();
    }
  }

  private boolean isLost(int number, BlockKey key, RecordLocation location, CrcMismatch flaw, Damage damage,
      Consumer<DeadRecord> freed) {
    if (!locations.lose(number, location, flaw::of)) {
      return false;
    }
    copies.add(damage); // first: the segment may go
    freed.accept(new DeadRecord(new RecordName(key, location.sequence()), location.segment()));
    return true;
  }

  /// Loses the block of `number`, whose record at `location` the disk does not give.
  ///
  /// @return false if the block was moved, released or lost before
  boolean lose(int number, RecordLocation location, RecordUnreadableException why) {
    if (!locations.lose(number, location, key -> new BlockUnreadableException(boundary, key, why))) {
      return false;
    }
    suspects.forget(location.at());
    unreadable.incrementAndGet();
    return true;
  }

  /// Whether the record at `location` was given up.
  boolean isUnreadable(RecordLocation location) {
    return suspects.isGivenUp(location.at());
  }

  /// Blocks that readers found damaged.
  long read() {
    return read.get();
  }

  /// Blocks that were lost because the disk does not give them.
  long unreadable() {
    return unreadable.get();
  }
}
