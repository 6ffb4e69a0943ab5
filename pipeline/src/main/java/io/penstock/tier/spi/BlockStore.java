package io.penstock.tier.spi;

import io.penstock.tier.Durability;
import io.penstock.tier.Medium;
import io.penstock.tier.TierClosedException;
import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// Where the bytes of blocks rest outside host memory: a device's memory, a disk.
///
/// A store keeps no books: the tier over it decides which block rests where. It copies blocks in and granules out,
/// verifies both ways, and frees places. Its `Mono`s are cold, complete on the store's own threads (or at once on the
/// caller's, if it never blocks), and once subscribed run to their end: a cancel changes nothing for the bytes. Safe
/// from any thread.
public interface BlockStore {
  /// Says that a store has no numbers for blocks.
  int NO_NUMBER = -1;

  /// Short and unique in its node; the boundary named in errors.
  String name();

  Medium medium();

  /// The only space whose blocks it holds.
  CacheSpace space();

  /// What may be promised of a block once [#put] completed.
  Durability durability();

  /// How it is now. Quick, and safe under a lock.
  default StoreHealth health() {
    return StoreHealth.GOOD;
  }

  /// The copies that moved blocks here and back; null if no device makes them. Quick, and safe under a lock.
  default @Nullable CopyStat copies() {
    return null;
  }

  /// What its disk does besides; null if it is on none. Quick, and safe under a lock.
  default @Nullable DiskStat diskStat() {
    return null;
  }

  /// Has `changed` run after each change of [#health()], until the store is closed: on a thread of the store, under no
  /// lock of it.
  default void watch(Runnable changed) {}

  /// Has the store ask `shortage` when it has no room for blocks that it is to take, before it refuses them. A store
  /// with places asks nobody.
  default void useEvictor(Evictor shortage) {}

  /// Has `damaged` hear of each block at rest here that the store found damaged while nobody read it, until the store
  /// is closed: on a thread of the store, under no lock of it. From then on [#isIntact] is false for its rest.
  default void report(Consumer<BlockKey> damaged) {}

  /// Whether nothing is known against `rest`, which is open.
  default boolean isIntact(StoredBlock rest) {
    return true;
  }

  /// Places there are, `Long.MAX_VALUE` if their number is not fixed.
  long capacityBlocks();

  /// Copies `blocks` here as one batch, all or nothing, and compares their checksums on the way.
  ///
  /// - Ownership: the blocks stay the caller's, who keeps them open until the end; the stored blocks are the caller's.
  /// - Asked for once at a time by each stack: its other batches wait for their turn.
  /// - Signals: [io.penstock.block.BlockCorruptException] naming the key; [TierClosedException];
  ///   [StoreUnavailableException] and [StoreBusyException], after which the blocks stay where they are; other
  ///   [io.penstock.KvException]s of the store.
  Mono<List<StoredBlock>> put(List<Block> blocks);

  /// Copies `range` of each resting block into the draft at the same index, and states it there with
  /// [BlockDraft#verify].
  ///
  /// - Ownership: stored blocks and drafts stay the caller's, who closes none before the end.
  /// - Signals: [io.penstock.block.BlockCorruptException] naming the first damaged key; [TierClosedException];
  ///   [StoreBusyException] and [StoreUnavailableException], after which, and only then, the stack looks for the blocks
  ///   here again; other errors of the store.
  Mono<Void> read(List<? extends StoredBlock> rests, List<BlockDraft> drafts, GranuleRange range);

  /// Blocks found at opening that nobody has taken yet, in the order of writing, at most one a key; the caller owns
  /// them from then on. Empty for memory, and at the second call. A store that finds more later, because it could not
  /// look before, tells it as a change of [#health()].
  List<StoredBlock> recovered();

  /// The same without an object a block, for an owner who keeps numbers: see [#toNumber].
  default void recover(Recovered to) {
    recovered().forEach(to::stored);
  }

  /// Ends `rest`, but not what rests: whoever asks owns the block by its number from now on, until [#fromNumber] makes
  /// a rest of it again. For blocks that are not used for long, and cost nothing but bytes of their own meanwhile.
  /// Never waits.
  ///
  /// @param rest open, and not being read
  /// @return 0 or more; [#NO_NUMBER] if this store has none: the rest stays as it is
  default int toNumber(StoredBlock rest) {
    return NO_NUMBER;
  }

  /// The rest of the block of `key`, which is at rest here under `number`. The number is nobody's from now on. Never
  /// waits.
  default StoredBlock fromNumber(BlockKey key, int number) {
    throw new IllegalStateException("store " + name() + " must have given number " + number + " (was none)");
  }

  /// Takes over blocks that were found, one by one, in the order of writing.
  interface Recovered {
    /// One that has a rest, now the taker's.
    void stored(StoredBlock rest);

    /// One that has a number, now the taker's, as after [BlockStore#toNumber].
    void numbered(BlockKey key, int number);

    /// One that was found damaged, and is not here any more, if no older copy of it is.
    default void damaged(BlockKey key) {}
  }

  /// Refuses new work and completes when what was accepted has ended. Lazy and idempotent.
  Mono<Void> close();
}
