package io.penstock.stage;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.SliceShape;
import io.penstock.stack.HostTier;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.StageContract;
import io.penstock.testkit.StageFixtures;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierClosedException;
import io.penstock.tier.TierListener;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.test.StepVerifier;

final class FetchTest extends StageContract<BlockKey, Block> {
  private static final Fetch.Options OPTIONS = new Fetch.Options(2, 2);

  private final HostTier tier = new HostTier(StageFixtures.SPACE, 64, TierListener.noop());

  /// Blocks 0 to 31 rest in the tier, except every block whose number ends with 9.
  @BeforeEach
  void fill() {
    scoped(scope -> StageFixtures.blocks(32, arena, scope).filter(block -> !block.key().equals(StageFixtures.key(9)))
        .buffer(8)
        .transform(Store.into(tier, StageFixtures.split(256, SliceShape.Order.LAYER_FIRST)))).blockLast(LIMIT);
    long resident = tier.arena().claimedSlots();
    leaks.watch("slots of the tier beyond its blocks",
        () -> tier.arena().claimedSlots() == 0 ? 0 : tier.arena().claimedSlots() - resident);
  }

  @AfterEach
  void closeTier() {
    tier.close().block(LIMIT);
  }

  @Override
  protected Stage<BlockKey, Block> stage(BlockScope scope) {
    return Fetch.from(tier, OPTIONS, scope);
  }

  @Override
  protected Flux<BlockKey> inputs(int count, BlockScope scope) {
    return Flux.fromIterable(StageFixtures.keys(count));
  }

  /// Two requests of two keys ahead of demand, and the one being gathered.
  @Override
  protected long pulled(long demand) {
    return demand + 6;
  }

  private static Flux<BlockKey> numbered(Integer... numbers) {
    return Flux.fromArray(numbers).map(StageFixtures::key);
  }

  @Test
  void fetch_keys_givesTheirBlocksInOrderWithoutTheMisses() {
    StepVerifier
        .create(scoped(
            scope -> numbered(5, 9, 3, 40, 1).transform(stage(scope)).doOnNext(Blocks::assertBytes).map(Block::key)))
        .expectNext(StageFixtures.key(5), StageFixtures.key(3), StageFixtures.key(1)).expectComplete().verify(LIMIT);
  }

  @Test
  void fetch_keyThatComesAgainLater_isGivenTwice() {
    StepVerifier.create(scoped(scope -> numbered(1, 2, 1, 2).transform(stage(scope)).map(Block::key)))
        .expectNextSequence(numbered(1, 2, 1, 2).collectList().block(LIMIT)).expectComplete().verify(LIMIT);
  }

  @Test
  void fetch_windowLargerThanTheTiersOwn_givesAll() {
    StepVerifier.create(scoped(scope -> inputs(32, scope).transform(Fetch.from(tier, new Fetch.Options(32, 1), scope))
        .doOnNext(Blocks::assertBytes).doOnNext(Block::close)))
        .expectNextCount(31).expectComplete().verify(LIMIT);
  }

  @Test
  void fetch_windowWithoutHits_isPassedOver() {
    StepVerifier.create(scoped(scope -> numbered(40, 41, 42, 43, 0, 1)
        .transform(stage(scope))))
        .expectNextCount(2).expectComplete().verify(LIMIT);
  }

  @Test
  void fetch_corruptBlock_isAnErrorAfterTheBlocksBefore() {
    try (BlockScope scope = new BlockScope()) {
      Blocks.corrupt(tier.get(List.of(StageFixtures.key(2)), scope).blockFirst(LIMIT), 5);
    }
    StepVerifier.create(scoped(scope -> inputs(6, scope).transform(stage(scope)).doOnNext(Blocks::assertBytes)))
        .expectNextCount(2).expectError(BlockCorruptException.class).verify(LIMIT);
  }

  @Test
  void fetch_closedTier_isAnError() {
    BlockTier closed = new HostTier(StageFixtures.SPACE, 4, TierListener.noop());
    closed.close().block(LIMIT);
    StepVerifier.create(scoped(scope -> inputs(6, scope).transform(Fetch.from(closed, OPTIONS, scope))))
        .expectError(TierClosedException.class).verify(LIMIT);
  }

  @Test
  void options_outOfRange_nameRuleAndValue() {
    assertThatThrownBy(() -> OPTIONS.withConcurrency(0)).hasMessage("concurrency must be > 0 (was 0)");
    assertThatThrownBy(() -> OPTIONS.withWindowKeys(-3)).hasMessage("windowKeys must be > 0 (was -3)");
  }
}
