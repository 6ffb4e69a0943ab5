package io.penstock.storage;

import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import io.penstock.storage.check.Damage;
import io.penstock.storage.check.DamageKind;
import io.penstock.storage.check.Quarantine;
import io.penstock.storage.check.QuarantineBound;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.RecordUnreadableException;
import io.penstock.storage.engine.StorageFailedException;
import io.penstock.storage.record.RecordName;
import io.penstock.tier.spi.BlockUnreadableException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.util.Logger;
import reactor.util.Loggers;

/// What becomes of blocks whose records are no more. One that is found damaged while nobody asks for it: its bytes are
/// set aside, and whoever owns it hears so at once; where the quarantine is full only its bytes are not kept. One that
/// the disk does not give, though it gives others: nothing is to be had, and whoever asks for it from now on hears so,
/// but for the reader who found it. Each is lost and counted once, whoever comes first. Safe from any thread; each
/// waits for the disk, and for another one that keeps damage no longer than the first look at the quarantine, or a line
/// of its index, takes.
final class LostRecords {
  private static final Logger LOG = Loggers.getLogger(LostRecords.class);

  /// As long as a reader may be in a record that others found damaged meanwhile, and longer.
  private static final int MOST_TOLD = 1_024;

  private final PlaceTable places;
  private final SpaceId space;
  private final @Nullable Quarantine quarantine;
  private final DiskHealth health;
  private final String boundary;
  /// Guarded by itself: damaged records that were told of, the newest of them.
  private final LinkedHashSet<Location> told = new LinkedHashSet<>();
  private final AtomicLong unreadable = new AtomicLong();
  private volatile Consumer<BlockKey> heard = key -> {};

  /// @param directory of the journal; null if it has none
  /// @param boundary named in errors
  LostRecords(PlaceTable places, SpaceId space, @Nullable Path directory, QuarantineBound bound, DiskHealth health,
      String boundary) {
    this.boundary = boundary;
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
  /// A damaged head may say the wrong hash: then nobody hears of it, and the block is found damaged when it is read, or
  /// after a restart.
  ///
  /// @param counted hears of the record before whoever owns the block does, unless the block was given back meanwhile
  /// @return why its bytes could not be set aside; null if they could. The block is damaged all the same
  @Nullable StorageFailedException lose(int number, Place place, RecordMover records, Flaw flaw, Consumer<DeadRecord> counted) {
    BlockKey key = new BlockKey(space, records.key().hash());
    StorageFailedException failure = keep(key, place, records, flaw);
    if (isLost(number, place, flaw)) {
      counted.accept(new DeadRecord(new RecordName(key, place.sequence()), place.segment()));
      heard.accept(key);
    }
    return failure;
  }

  /// Loses the block of `number`, whose record at `place` the disk does not give.
  ///
  /// @return whether this lost it: then the record counts no more. False if the block was moved or given back
  ///     meanwhile, or lost before
  boolean lose(int number, Place place, RecordUnreadableException why) {
    if (!places.lose(number, place, key -> new BlockUnreadableException(boundary, key, why))) {
      return false;
    }
    unreadable.incrementAndGet();
    health.suspects().forget(place.location());
    return true;
  }

  /// Whether the disk is known not to give the record at `place`.
  boolean isUnreadable(Place place) {
    return health.suspects().isGivenUp(place.location());
  }

  /// Blocks that were lost because the disk does not give their records.
  long unreadable() {
    return unreadable.get();
  }

  /// Loses the block of `number`, which a reader found damaged, and whose owner has heard so from the reader.
  ///
  /// @param freed hears of the record, unless the block was given back meanwhile
  /// @return whether nobody told of this record before
  boolean lose(int number, BlockKey key, Place place, Flaw flaw, Consumer<DeadRecord> freed) {
    boolean isLost = isLost(number, place, flaw);
    if (isLost) {
      freed.accept(new DeadRecord(new RecordName(key, place.sequence()), place.segment()));
    }
    return isLost || isNews(place);
  }

  private boolean isLost(int number, Place place, Flaw flaw) {
    synchronized (told) { // whoever finds it given back must know whether it was lost before
      boolean isLost = places.lose(number, place, flaw);
      if (isLost) {
        isNews(place);
      }
      return isLost;
    }
  }

  /// Whether nobody told of damage at `place` before; from now on somebody has.
  boolean isNews(Place place) {
    synchronized (told) {
      if (told.size() > MOST_TOLD) {
        told.removeFirst();
      }
      return told.add(place.location());
    }
  }

  /// Whether somebody told of damage at `place`, not too long ago.
  boolean isTold(Place place) {
    synchronized (told) {
      return told.contains(place.location());
    }
  }

  /// Sets aside what is in `records`, the record at `place`, which has `flaw`.
  ///
  /// @return as [#lose(int, Place, RecordMover, Flaw, Consumer)]
  @Nullable StorageFailedException keep(BlockKey key, Place place, RecordMover records, Flaw flaw) {
    Location at = place.location();
    return keep(records.record(), records.isHeadOf(place)
        ? flaw.damage(at, key, place.sequence())
        : new Damage(at.segment(), at.offset(), at.length(), DamageKind.HEAD, null, place.sequence(), -1, true,
            flaw.reason()));
  }

  /// Sets aside `record`, of which `damage` tells.
  ///
  /// @return as [#lose(int, Place, RecordMover, Flaw, Consumer)]
  @Nullable StorageFailedException keep(MemorySegment record, Damage damage) {
    if (quarantine == null) {
      return null;
    }
    int slot = health.enterSlow();
    try {
      quarantine.keep(record, damage);
      LOG.warn("{}: {} in segment {} at {} is damaged, and set aside: {}", boundary,
          damage.key() == null ? "a record" : "block " + damage.key(),
          damage.segment(), damage.offset(), damage.reason()); // as many lines as a quarantine keeps records
      return null;
    } catch (StorageFailedException e) {
      return e;
    } finally {
      health.leave(slot);
    }
  }
}
