package io.penstock.stack;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.MemoryStore;
import io.penstock.tier.Medium;
import io.penstock.tier.TierListener;
import io.penstock.tier.TierStat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
final class TierStackTest extends StackSteps {
  private final MemoryStore device = new MemoryStore("hbm", Medium.DEVICE, SPACE, 1, Runnable::run);

  @Test
  void blocksPromotedAndDemoted_betweenFullLevels_bothArrive() {
    TierStack stack =
        new TierStack(SPACE, List.of(new StackLevel.Stored(device, 1), new StackLevel.Host("dram", 1)), options(),
            TierListener.noop());
    put(stack, 0);
    put(stack, 1);
    assertThat(levels(stack)).extracting(TierStat.Level::storedBlocks).containsExactly(1L, 1L);
    read(stack, 0);
    assertThat(stack.movingBlocks()).isZero();
    assertThat(levels(stack)).extracting(TierStat.Level::storedBlocks).containsExactly(1L, 1L);
    assertThat(levels(stack)).extracting(TierStat.Level::hits).containsExactly(0L, 1L);
    read(stack, 0);
    assertThat(levels(stack)).extracting(TierStat.Level::hits).containsExactly(1L, 1L);
    stack.close().block();
  }

  private static StackOptions options() {
    return StackOptions.defaults("stack").withIngressBlocks(1).withTransferBlocks(1).withPromotionBlocks(1)
        .withBounceBlocks(1);
  }
}
