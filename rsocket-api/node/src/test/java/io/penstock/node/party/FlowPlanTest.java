package io.penstock.node.party;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.CacheSpace;
import io.penstock.node.shape.BlockShape;
import org.junit.jupiter.api.Test;

final class FlowPlanTest {
  private static final long BUDGET = 32 << 20;

  @Test
  void defaults_makeWindowsOfHalfAMebibyte() {
    FlowPlan plan = FlowPlan.of(space(64 << 10), BUDGET, 1);

    assertThat(plan.windowBlocks()).isEqualTo(8);
    assertThat(plan.sliceBytes()).isEqualTo(256 << 10);
    assertThat(plan.creditSlices()).isEqualTo(16);
  }

  @Test
  void everyStream_isSureOfItsCredit() {
    for (int concurrency = 1; concurrency <= ReplayPace.MAX_CONCURRENCY; concurrency++) {
      FlowPlan plan = FlowPlan.of(space(64 << 10), BUDGET, concurrency);
      assertThat((long) concurrency * plan.creditSlices() * plan.sliceBytes()).as("%d streams", concurrency)
          .isLessThanOrEqualTo(plan.decodeBudgetBytes());
      assertThat(plan.decodeBudgetBytes() + plan.nodeBudgetBytes() + plan.prefillSlots() * (64L << 10))
          .isLessThanOrEqualTo(BUDGET);
    }
  }

  @Test
  void aSlice_holdsAtLeastAPlane() {
    assertThat(FlowPlan.of(space(16 << 20), 256 << 20, 1).sliceBytes()).isEqualTo(1 << 20);
  }

  @Test
  void aBudgetTooSmall_isRefusedWithTheReason() {
    assertThatThrownBy(() -> FlowPlan.of(space(64 << 10), 128 << 10, 1))
        .hasMessage("budget must be >= 256 KiB for 1 block a window (was 128 KiB)");
    assertThatThrownBy(() -> FlowPlan.of(space(1 << 20), BUDGET, 256 + 1))
        .hasMessageContaining("257 requests at a time");
  }

  private static CacheSpace space(int blockBytes) {
    return BlockShape.of(blockBytes, 8).space("plan");
  }
}
