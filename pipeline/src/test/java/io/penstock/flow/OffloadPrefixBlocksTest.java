package io.penstock.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.Block;
import io.penstock.block.BlockScope;
import io.penstock.stack.HostTier;
import io.penstock.stage.Batch;
import io.penstock.stage.Stage;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.StageContract;
import io.penstock.testkit.StageFixtures;
import io.penstock.tier.Receipt;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.test.StepVerifier;

final class OffloadPrefixBlocksTest extends StageContract<Block, Receipt> {
  private static final OffloadPrefix.Options OPTIONS =
      new OffloadPrefix.Options(new Batch.Options(3, 1 << 20, Duration.ofMillis(5)), FilledTier.SHAPE);

  private HostTier tier;

  @BeforeEach
  void open() {
    tier = FilledTier.of(leaks, arena, List.of());
  }

  @AfterEach
  void closeTier() {
    tier.close().block(LIMIT);
  }

  @Override
  protected Stage<Block, Receipt> stage(BlockScope scope) {
    tier.remove(StageFixtures.keys(8)).block(LIMIT);
    return OffloadPrefix.blocks(tier, OPTIONS, timer);
  }

  @Override
  protected Flux<Block> inputs(int count, BlockScope scope) {
    return StageFixtures.blocks(count, arena, scope);
  }

  /// One batch stored, one gathered.
  @Override
  protected long pulled(long demand) {
    return demand == 0 ? 0 : 3 * (Math.ceilDiv(demand, 3L) + 1);
  }

  @Test
  void blocks_areInTheTier_sameBytes_eachWithItsReceipt() {
    StepVerifier.create(scoped(scope -> inputs(8, scope).transform(stage(scope)).map(Receipt::key)))
        .expectNextSequence(StageFixtures.keys(8)).expectComplete().verify(LIMIT);
    StepVerifier.create(scoped(scope -> tier.get(StageFixtures.keys(8), scope).doOnNext(Blocks::assertBytes)))
        .expectNextCount(8).expectComplete().verify(LIMIT);
    assertThat(arena.claimedSlots()).isZero();
  }
}
