package io.penstock.testkit;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierClosedException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;

/// What every [BlockTier] promises, as tests: extend it and open a tier. The promises stand by subject in the
/// interfaces that it has.
///
/// After each test nothing may be lent beyond the visible blocks. Everything is asked through the port, so a tier may
/// be in another process: what it does by itself is awaited, never slept for.
@Timeout(60)
public abstract class BlockTierContract
    implements
      TierReadContract,
      TierLeaseContract,
      TierWriteContract,
      TierBooksContract,
      TierEndContract {
  /// Slots that a tier has beyond its capacity.
  protected static final int RESERVE_BLOCKS = 4;
  /// Events that a tier keeps for late readers.
  protected static final int EVENT_LOG_SIZE = 64;

  /// The space of every tier under test.
  protected final CacheSpace space = SPACE;
  private final List<BlockTier> opened = new ArrayList<>();

  /// Opens an empty tier of [#space] with exact LRU, [#RESERVE_BLOCKS] slots beyond its capacity, [#EVENT_LOG_SIZE]
  /// events kept, and verified reads.
  protected abstract BlockTier openTier(int capacityBlocks);

  /// Whether a reservation is known to the tier before its commit. Where it is not, nobody can wait for its keys or in
  /// line behind it.
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

  /// The typed error for bytes of `key` that differ from their checksum.
  protected void assertCorrupt(Throwable failure, BlockKey key) {
    assertThat(failure).isInstanceOfSatisfying(BlockCorruptException.class, e -> {
      assertThat(e.key()).isEqualTo(key);
      assertThat(e.granule()).isEqualTo(1);
    });
  }

  /// Runs of the test that cancels anywhere.
  protected int cancelledRuns() {
    return 10_000;
  }

  /// Rounds a thread of the stress test.
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
  public final BlockTierContract contract() {
    return this;
  }

  final BlockTier opened(int capacityBlocks) {
    BlockTier tier = openTier(capacityBlocks);
    opened.add(tier);
    return tier;
  }

  @AfterEach
  void nothingIsLentBeyondWhatIsVisible() {
    for (BlockTier tier : opened) {
      if (isOpen(tier)) {
        assertIdle(tier, "at the end");
      }
      tier.close().block(PATIENCE);
    }
  }

  private static boolean isOpen(BlockTier tier) {
    try {
      tier.stat().block(PATIENCE);
      return true;
    } catch (TierClosedException e) {
      return false;
    }
  }
}
