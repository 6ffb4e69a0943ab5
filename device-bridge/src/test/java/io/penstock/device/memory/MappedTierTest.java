package io.penstock.device.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.stack.HostTier;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.BlockTierContract;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierListener;
import org.junit.jupiter.api.AfterAll;

/// The contract of a tier, on memory that the system maps; all of it goes back.
final class MappedTierTest extends BlockTierContract {
  private static final int PIECE_BYTES = 1 << 20;
  private static final MemoryFigures FIGURES = new MemoryFigures();

  @Override
  protected BlockTier openTier(int capacityBlocks) {
    return new HostTier(space,
        capacityBlocks,
        StackOptions.defaults("dram").withIngressBlocks(RESERVE_BLOCKS).withEventLogSize(EVENT_LOG_SIZE),
        TierListener.noop(), HostChunks.of(new MappedMemory(MappedOptions.defaults(), FIGURES), PIECE_BYTES));
  }

  @AfterAll
  static void allMemoryWentBack() {
    for (PageKind kind : PageKind.values()) {
      assertThat(FIGURES.bytes(kind)).as(kind.label()).isZero();
    }
    assertThat(FIGURES.fallbacks()).isPositive(); // so something was mapped: pieces are too small for the largest pages
  }
}
