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
/// A store decides nothing: its stack decides which blocks it has. A store copies blocks in and granules out, verifies
/// both ways, and frees room. Its `Mono`s are cold. They complete on the store's own threads, or at once on the
/// caller's if the store never blocks. A subscribed copy runs to its end: a cancel does not stop it. Safe from any
/// thread.
public interface BlockStore {
  /// The answer of a store that has no numbers for its blocks.
  int NO_NUMBER = -1;

  /// Short and unique in its node; the boundary named in errors.
  String name();

  Medium medium();

  /// The only space whose blocks it holds.
  CacheSpace space();

  /// Promise of a receipt for a block after [#put] completed.
  Durability durability();

  /// The health of this store. Quick, and safe under a lock.
  default StoreHealth health() {
    return StoreHealth.GOOD;
  }

  /// The copies that its device made; null for a store without a device. Quick, and safe under a lock.
  default TierStat.@Nullable Copies copies() {
    return null;
  }

  /// The work of its disk; null for a store without a disk. Quick, and safe under a lock.
  default TierStat.@Nullable Disk diskStat() {
    return null;
  }

  /// Runs `changed` after each change of [#health()], until the store is closed: on a thread of the store, under no
  /// lock of it.
  default void watch(Runnable changed) {}

  /// Sets the evictor, which the store asks for room before it refuses blocks. A store with a fixed number of slots
  /// never asks.
  default void useEvictor(Evictor evictor) {}

  /// Calls `damaged` for each block that the store itself finds damaged, until the store is closed: on a thread of the
  /// store, under no lock of it. From then on [#isIntact] is false for that stored block.
  default void report(Consumer<BlockKey> damaged) {}

  /// False if the store found `block` damaged. The handle is open.
  default boolean isIntact(StoredBlock block) {
    return true;
  }

  /// Slots for blocks; `Long.MAX_VALUE` if their number is not fixed.
  long capacityBlocks();

  /// Copies `blocks` here as one batch, all or nothing, and compares their checksums on the way.
  ///
  /// - Ownership: the caller keeps the blocks open until the end, and owns the stored blocks.
  /// - One put of a stack is under way at a time; the other batches of the stack wait.
  /// - Signals: [io.penstock.block.BlockCorruptException] naming the key; [TierClosedException];
  ///   [StoreUnavailableException] and [StoreBusyException], after which the blocks stay where they are; other
  ///   [io.penstock.KvException]s of the store.
  Mono<List<StoredBlock>> put(List<Block> blocks);

  /// Copies `range` of each stored block into the draft at the same index, and verifies it there with
  /// [BlockDraft#verify].
  ///
  /// - Ownership: the caller owns stored blocks and drafts, and keeps them open until the end.
  /// - Signals: [io.penstock.block.BlockCorruptException] naming the first damaged key; [TierClosedException];
  ///   [StoreBusyException] and [StoreUnavailableException], after which the stack looks for the blocks here again;
  ///   other errors of the store, after which it does not.
  Mono<Void> read(List<? extends StoredBlock> blocks, List<BlockDraft> drafts, GranuleRange range);

  /// Hands over the blocks found at opening, in the order of writing, one a key. The caller owns them. Empty for
  /// memory, and at the second call. A store that could not look before, and finds blocks later, reports a change of
  /// [#health()].
  List<StoredBlock> recovered();

  /// Recovers without an object for each block, for an owner that keeps numbers: see [#toNumber].
  default void recover(Recovered to) {
    recovered().forEach(to::stored);
  }

  /// Exchanges `block` for a number: closes the handle and keeps the bytes until [#fromNumber] makes a handle again. A
  /// block that is not used costs only the memory of its number. Never waits.
  ///
  /// @param block open, and not being read
  /// @return 0 or more; [#NO_NUMBER] if this store has no numbers, and then the handle stays open
  default int toNumber(StoredBlock block) {
    return NO_NUMBER;
  }

  /// A handle on the block of `key`, which is stored here under `number`. The number is used up. Never waits.
  default StoredBlock fromNumber(BlockKey key, int number) {
    throw new IllegalStateException("store " + name() + " must have given number " + number + " (was none)");
  }

  /// Takes over the found blocks one by one, in the order of writing.
  interface Recovered {
    /// Takes over a block with a handle.
    void stored(StoredBlock block);

    /// Takes over a block with a number, as after [BlockStore#toNumber].
    void numbered(BlockKey key, int number);

    /// Receives a damaged block. The block is a miss, unless an older copy of it is intact.
    default void damaged(BlockKey key) {}
  }

  /// Refuses new work, and completes when the accepted work has ended. Lazy and idempotent.
  Mono<Void> close();

  /// Makes room in a store. The stack of the store implements it.
  @FunctionalInterface
  public interface Evictor {
    /// Gives up blocks of the store: copies of blocks that a faster level has, too, and the next eviction victims, each
    /// with an event [TierEvent.Evicted]. Closes their stored blocks before it returns; blocks that are being read
    /// follow later. Any thread, under no lock of the store.
    ///
    /// @return how many blocks it gave up; 0 if it has none to give up
    int evict(int blocks);
  }
}
