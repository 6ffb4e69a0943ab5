package io.penstock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockScope;
import io.penstock.stack.HostTier;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierListener;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

@Timeout(20)
final class FaultyTierTest {
  private final HostTier tier = new HostTier(Blocks.smallSpace(), 4, TierListener.noop());

  @Test
  void failing_failsTheNamedCallOnly() {
    FaultyTier faulty = FaultyTier.failing(tier, FaultyTier.Call.LEASE, new IllegalStateException("fault"));
    try (BlockScope scope = new BlockScope()) {
      StepVerifier.create(faulty.get(Blocks.keys(Blocks.smallSpace(), 0, 1), scope)).expectErrorMessage("fault")
          .verify(Duration.ofSeconds(5));
      StepVerifier.create(faulty.stat()).expectNextCount(1).expectComplete().verify(Duration.ofSeconds(5));
    }
    tier.close().block();
  }

  @Test
  void stalledCall_neverReachesTheTier_andCancels() {
    FaultyTier stalled = new FaultyTier(tier, call -> Mono.never());
    try (BlockScope scope = new BlockScope()) {
      stalled.lease(Blocks.keys(Blocks.smallSpace(), 0, 1), OnMiss.ADMIT, scope).subscribe().dispose();
      assertThat(scope.open()).isZero();
    }
    assertThat(tier.stat().block()).satisfies(stat -> assertThat(stat.misses()).isZero());
    tier.close().block();
  }
}
