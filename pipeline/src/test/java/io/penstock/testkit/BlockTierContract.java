package io.penstock.testkit;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.tier.BlockTier;
import java.util.List;

/// What a [BlockTier] that is written to promises beside the core of [TierContract]: extend it and open a tier. The
/// promises stand by subject in the interfaces that it has; a tier that gives fewer says so by [#promises].
public abstract class BlockTierContract extends TierContract
    implements
      TierLeaseContract,
      TierWriteContract,
      TierLedgerContract,
      TierEndContract {
  /// Slots that a tier has beyond its capacity.
  protected static final int RESERVE_BLOCKS = 4;
  /// Events that a tier keeps for late readers.
  protected static final int EVENT_LOG_SIZE = 64;

  /// The space of every tier under test.
  protected final CacheSpace space = SPACE;

  /// Opens an empty tier of [#space] with exact LRU, [#RESERVE_BLOCKS] slots beyond its capacity, [#EVENT_LOG_SIZE]
  /// events kept, and verified reads.
  protected abstract BlockTier openTier(int capacityBlocks);

  /// Whether a reservation is known to the tier before its commit. Where it is not, no reader can await its keys, and
  /// no writer behind it.
  protected boolean reservesAtOnce() {
    return true;
  }

  /// Whether calls answer before they return, so that a scope which closes at once has read something.
  protected boolean answersAtOnce() {
    return true;
  }

  /// Name of the tier in a receipt: the one that keeps the block.
  protected String receiptTier(BlockTier tier) {
    return tier.info().name();
  }

  /// Runs of the proof that cancels anywhere; a build makes at most 1,000.
  protected int cancelledRuns() {
    return 10_000;
  }

  /// Rounds a thread of the stress proof; a build makes at most 500.
  protected int stressRounds() {
    return 3_000;
  }

  /// Flips a bit of the stored block of `key`, behind the tier's back.
  protected void corruptStored(BlockTier tier, BlockKey key) {
    try (BlockScope scope = new BlockScope()) {
      Blocks.corrupt(requireNonNull(tier.get(List.of(key), scope).blockFirst(PATIENCE)), 70);
    }
  }

  @Override
  protected final BlockTier openFilled() {
    BlockTier tier = openTier(present().size());
    put(tier, present().subList(0, RESERVE_BLOCKS));
    put(tier, present().subList(RESERVE_BLOCKS, present().size()));
    return tier;
  }

  @Override
  public final BlockTierContract contract() {
    return this;
  }

  final BlockTier opened(int capacityBlocks) {
    return opened(openTier(capacityBlocks));
  }
}
