package io.penstock.storage;

import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import io.penstock.storage.check.Damage;
import io.penstock.storage.check.DamageKind;
import io.penstock.storage.check.Quarantine;
import io.penstock.storage.check.QuarantineBound;
import io.penstock.storage.engine.StorageFailedException;
import io.penstock.storage.record.RecordName;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// What becomes of records that are found damaged while nobody asks for their blocks: the bytes are set aside, the block is lost, and whoever
/// owns it hears so at once. Where the quarantine is full only its bytes are not kept. Safe from any thread; each waits for the disk, and for nobody else.
final class DamagedRecords {
  private final PlaceTable places;
  private final SpaceId space;
  private final @Nullable Quarantine quarantine;
  private final DiskHealth health;
  private volatile Consumer<BlockKey> heard = key -> {};

  /// @param directory of the journal; null if it has none
  DamagedRecords(PlaceTable places, SpaceId space, @Nullable Path directory, QuarantineBound bound, DiskHealth health) {
    this.health = health;
    this.places = places;
    this.space = space;
    this.quarantine = directory == null ? null : new Quarantine(directory, bound);
  }

  /// Tells `owner` from now on.
  void report(Consumer<BlockKey> owner) {
    heard = owner;
  }

  /// Records whose bytes could not be set aside, because the disk failed or the quarantine is full.
  long unkept() {
    return quarantine == null ? 0 : quarantine.unkept();
  }

  /// Loses the block of `number`, whose record at `place` is in `records` and has `flaw`.
  ///
  /// A damaged head may say the wrong hash: then nobody hears of it, and the block is found damaged when it is read, or after a restart.
  ///
  /// @param counted hears of the record before whoever owns the block does, unless the block was given back meanwhile
  /// @return why its bytes could not be set aside; null if they could. The block is damaged all the same
  @Nullable StorageFailedException lose(int number, Place place, RecordMover records, Flaw flaw, Consumer<DeadRecord> counted) {
    BlockKey key = new BlockKey(space, records.key().hash());
    StorageFailedException failure = keep(key, place, records, flaw);
    if (places.lose(number, place, flaw)) {
      counted.accept(new DeadRecord(new RecordName(key, place.sequence()), place.segment()));
      heard.accept(key);
    }
    return failure;
  }

  private @Nullable StorageFailedException keep(BlockKey key, Place place, RecordMover records, Flaw flaw) {
    if (quarantine == null) {
      return null;
    }
    boolean isHead = !records.isHeadOf(place);
    int slot = health.enterSlow();
    try {
      quarantine.keep(records.record(), new Damage(place.segment(), place.location().offset(), place.location().length(),
          isHead ? DamageKind.HEAD : DamageKind.PAYLOAD, isHead ? null : key.toString(), place.sequence(), isHead ? -1 : flaw.granule(), true,
          "crc must be %08x (was %08x)".formatted(flaw.expected(), flaw.actual())));
      return null;
    } catch (StorageFailedException e) {
      return e;
    } finally {
      health.leave(slot);
    }
  }
}
