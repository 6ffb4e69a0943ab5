package io.penstock.stage;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockScope;
import io.penstock.block.SliceShape;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.StageContract;
import io.penstock.testkit.StageFixtures;
import io.penstock.tier.BlockTier;
import io.penstock.tier.HostTier;
import io.penstock.tier.Receipt;
import io.penstock.tier.Reservation;
import io.penstock.tier.StackOptions;
import io.penstock.tier.TierListener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.test.StepVerifier;

final class StoreTest extends StageContract<Block, Receipt> {
  private final HostTier tier =
      new HostTier(StageFixtures.SPACE, 64, StackOptions.defaults("dram").withIngressBlocks(8), TierListener.noop());
  private static final SliceShape SHAPE = StageFixtures.split(256, SliceShape.Order.LAYER_FIRST);

  /// What is claimed in the tier beyond the blocks that can be seen is a leak.
  @BeforeEach
  void watchTier() {
    leaks.watch("slots of the tier beyond its blocks", () -> tier.arena().claimedSlots() - visible());
  }

  private long visible() {
    return tier.arena().claimedSlots() == 0 ? 0 : tier.stat().block(LIMIT).blocks();
  }

  @AfterEach
  void closeTier() {
    tier.close().block(LIMIT);
  }

  /// Each run of the contract begins with a tier that has none of the blocks.
  @Override
  protected Stage<Block, Receipt> stage(BlockScope scope) {
    tier.remove(StageFixtures.keys(8)).block(LIMIT);
    return batches(tier, 3);
  }

  private static Stage<Block, Receipt> batches(BlockTier tier, int blocks) {
    return source -> source.buffer(blocks).transform(Store.into(tier, SHAPE));
  }

  @Override
  protected Flux<Block> inputs(int count, BlockScope scope) {
    return StageFixtures.blocks(count, arena, scope);
  }

  @Override
  protected long pulled(long demand) {
    return demand == 0 ? 0 : 3 * (Math.ceilDiv(demand, 3L) + 1);
  }

  @Test
  void store_blocks_areVisibleAndClosed() {
    List<Block> blocks = new ArrayList<>();
    BlockScope open = leaks.watch(new BlockScope());
    StepVerifier.create(inputs(7, open).doOnNext(blocks::add).transform(stage(open)).map(Receipt::key))
        .expectNextSequence(StageFixtures.keys(7)).expectComplete().verify(LIMIT);
    assertThat(blocks).allMatch(Block::isClosed);
    assertThat(arena.claimedSlots()).isZero();
    StepVerifier.create(scoped(scope -> tier.get(StageFixtures.keys(7), scope).doOnNext(Blocks::assertBytes)))
        .expectNextCount(7).expectComplete().verify(LIMIT);
  }

  @Test
  void store_blockThatTheTierHas_getsNoReceipt() {
    Stage<Block, Receipt> store = batches(tier, 4);
    scoped(scope -> inputs(2, scope).transform(store)).blockLast(LIMIT);
    StepVerifier.create(scoped(scope -> inputs(4, scope).transform(store).map(Receipt::key)))
        .expectNext(StageFixtures.key(2), StageFixtures.key(3)).expectComplete().verify(LIMIT);
  }

  @Test
  void store_sameBlockTwice_isStoredOnce() {
    tier.remove(StageFixtures.keys(8)).block(LIMIT);
    StepVerifier.create(scoped(scope -> inputs(2, scope).concatWith(inputs(2, scope)).transform(batches(tier, 4))))
        .expectNextCount(2).expectComplete().verify(LIMIT);
  }

  @Test
  void store_corruptBlock_isAnErrorAndItsWindowIsNotVisible() {
    StepVerifier.create(scoped(scope -> inputs(6, scope).doOnNext(block -> corrupt(block, 4)).transform(stage(scope))))
        .expectNextCount(3)
        .expectErrorSatisfies(
            error -> assertThat(error).isInstanceOf(BlockCorruptException.class).hasMessageContaining("at store"))
        .verify(LIMIT);
    assertThat(tier.match(StageFixtures.keys(6)).block(LIMIT)).isEqualTo(3);
    leaks.assertEmpty();
  }

  private static void corrupt(Block block, int number) {
    if (block.key().equals(StageFixtures.key(number))) {
      Blocks.corrupt(block, 100);
    }
  }

  @Test
  void store_tierWithoutRoom_waitsAndGoesOnWhenThereIs() {
    HostTier narrow =
        new HostTier(StageFixtures.SPACE, 1, StackOptions.defaults("dram").withIngressBlocks(2), TierListener.noop());
    BlockScope elsewhere = leaks.watch(new BlockScope());
    Reservation inTheWay = narrow.reserve(StageFixtures.keys(64).subList(30, 32), elsewhere).block(LIMIT);
    StepVerifier.create(scoped(scope -> inputs(2, scope).transform(batches(narrow, 2))))
        .expectSubscription().expectNoEvent(Duration.ZERO).then(inTheWay::close)
        .expectNextCount(2).expectComplete().verify(LIMIT);
    narrow.close().block(LIMIT);
    assertThat(narrow.arena().claimedSlots()).isZero();
  }

  @Test
  void store_cancelWhileItWaitsForRoom_leavesTheQueue() {
    HostTier narrow =
        new HostTier(StageFixtures.SPACE, 1, StackOptions.defaults("dram").withIngressBlocks(2), TierListener.noop());
    BlockScope elsewhere = leaks.watch(new BlockScope());
    Reservation inTheWay = narrow.reserve(StageFixtures.keys(64).subList(30, 32), elsewhere).block(LIMIT);
    StepVerifier.create(scoped(scope -> inputs(2, scope).transform(batches(narrow, 2))))
        .expectSubscription().expectNoEvent(Duration.ZERO).thenCancel().verify(LIMIT);
    inTheWay.close();
    assertThat(narrow.arena().claimedSlots()).isZero();
    assertThat(narrow.contains(StageFixtures.keys(2)).block(LIMIT).count()).isZero();
    narrow.close().block(LIMIT);
  }
}
