package io.penstock.tier.spi;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.tier.Medium;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.StoreHealth;
import io.penstock.tier.TierClosedException;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierStat;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// Stores the bytes of blocks outside host memory: in a device's memory, on a disk.
///
/// A store decides nothing: the stack that it belongs to decides which block it has. It copies blocks in and granules
/// out, verifies both ways, and frees room. Its `Mono`s are cold, complete on the store's own threads (or at once on
/// the caller's, if it never blocks), and once subscribed run to their end: a cancel changes nothing for the bytes.
/// Safe from any thread.
public interface BlockStore {
  /// The answer of a store that has no numbers for its blocks.
  int NO_NUMBER = -1;

  /// Short and unique in its node; the boundary named in errors.
  String name();

  Medium medium();

  /// The only space whose blocks it holds.
  CacheSpace space();

  /// What may be promised of a block once [#put] completed.
  Durability durability();

  /// What it can do now. Quick, and safe under a lock.
  default StoreHealth health() {
    return StoreHealth.GOOD;
  }

  /// The copies of blocks that a device made; null if none does. Quick, and safe under a lock.
  default TierStat.@Nullable Copies copies() {
    return null;
  }

  /// What its disk does besides; null if it is on none. Quick, and safe under a lock.
  default TierStat.@Nullable Disk diskStat() {
    return null;
  }

  /// Runs `changed` after each change of [#health()], until the store is closed: on a thread of the store, under no
  /// lock of it.
  default void watch(Runnable changed) {}

  /// Asks `evictor` for room for blocks that it is to take, before it refuses them. A store with a fixed number of
  /// slots never asks.
  default void useEvictor(Evictor evictor) {}

  /// Tells `damaged` each of its blocks that it found damaged without a reader, until the store is closed: on a thread
  /// of the store, under no lock of it. From then on [#isIntact] is false for the stored block.
  default void report(Consumer<BlockKey> damaged) {}

  /// False if the store found `block`, which is open, damaged.
  default boolean isIntact(StoredBlock block) {
    return true;
  }

  /// Slots for blocks; `Long.MAX_VALUE` if their number is not fixed.
  long capacityBlocks();

  /// Copies `blocks` here as one batch, all or nothing, and compares their checksums on the way.
  ///
  /// - Ownership: the blocks stay the caller's, who keeps them open until the end; the stored blocks are the caller's.
  /// - Asked for once at a time by each stack: its other batches wait for their turn.
  /// - Signals: [io.penstock.block.BlockCorruptException] naming the key; [TierClosedException];
  ///   [StoreUnavailableException] and [StoreBusyException], after which the blocks stay where they are; other
  ///   [io.penstock.KvException]s of the store.
  Mono<List<StoredBlock>> put(List<Block> blocks);

  /// Copies `range` of each stored block into the draft at the same index, and verifies it there with
  /// [BlockDraft#verify].
  ///
  /// - Ownership: stored blocks and drafts stay the caller's, who closes none before the end.
  /// - Signals: [io.penstock.block.BlockCorruptException] naming the first damaged key; [TierClosedException];
  ///   [StoreBusyException] and [StoreUnavailableException], after which, and only then, the stack looks for the blocks
  ///   here again; other errors of the store.
  Mono<Void> read(List<? extends StoredBlock> blocks, List<BlockDraft> drafts, GranuleRange range);

  /// Hands over the blocks found at opening, in the order of writing, at most one a key; the caller owns them from then
  /// on. Empty for memory, and at the second call. A store that finds more later, because it could not look before,
  /// tells it as a change of [#health()].
  List<StoredBlock> recovered();

  /// The same without an object for each block, for an owner that keeps numbers: see [#toNumber].
  default void recover(Recovered to) {
    recovered().forEach(to::stored);
  }

  /// Closes `block`, but keeps its bytes: the caller owns them by the number from now on, until [#fromNumber] makes a
  /// handle again. For blocks that are not used for long, and cost no memory but the number meanwhile. Never waits.
  ///
  /// @param block open, and not being read
  /// @return 0 or more; [#NO_NUMBER] if this store has none: the handle stays open then
  default int toNumber(StoredBlock block) {
    return NO_NUMBER;
  }

  /// A handle on the block of `key`, which is stored here under `number`. The number is used up. Never waits.
  default StoredBlock fromNumber(BlockKey key, int number) {
    throw new IllegalStateException("store " + name() + " must have given number " + number + " (was none)");
  }

  /// Takes over the blocks that were found, one by one, in the order of writing.
  interface Recovered {
    /// A block with a handle, now the taker's.
    void stored(StoredBlock block);

    /// A block with a number, now the taker's, as after [BlockStore#toNumber].
    void numbered(BlockKey key, int number);

    /// A block that was found damaged, and is a miss, unless an older copy of it is intact.
    default void damaged(BlockKey key) {}
  }

  /// Refuses new work and completes when what was accepted has ended. Lazy and idempotent.
  Mono<Void> close();

  /// Makes room in a store: the stack that the store belongs to.
  @FunctionalInterface
  public interface Evictor {
    /// Gives up blocks of the store: copies of blocks that a faster level has, too, and the next eviction victims, each
    /// with an event [TierEvent.Evicted]. The stored blocks are closed before this returns, but for those that are
    /// being read. Any thread, under no lock of the store.
    ///
    /// @return how many it gave up; 0 if there is none to give up
    int evict(int blocks);
  }
}
