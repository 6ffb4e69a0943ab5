package io.penstock.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.stack.HostTier;
import io.penstock.stage.Fetch;
import io.penstock.stage.Stage;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.FaultyTier;
import io.penstock.testkit.StageContract;
import io.penstock.testkit.StageFixtures;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierClosedException;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

final class LoadPrefixBlocksTest extends StageContract<BlockKey, Block> {
  private static final Fetch.Options OPTIONS = new Fetch.Options(2, 2);

  private HostTier tier;

  /// The tier has blocks 0 to 31 but 9.
  @BeforeEach
  void fill() {
    tier = FilledTier.of(leaks, arena, IntStream.range(0, 32).filter(number -> number != 9).boxed().toList());
  }

  @AfterEach
  void closeTier() {
    tier.close().block(LIMIT);
  }

  @Override
  protected Stage<BlockKey, Block> stage(BlockScope scope) {
    return keys -> keys.buffer(8).concatMap(request -> LoadPrefix.blocks(tier, request, OPTIONS, scope), 0);
  }

  @Override
  protected Flux<BlockKey> inputs(int count, BlockScope scope) {
    return Flux.fromIterable(StageFixtures.keys(count));
  }

  /// A request is asked for as a whole.
  @Override
  protected long pulled(long demand) {
    return demand == 0 ? 0 : 8;
  }

  private static Flux<Block> load(BlockTier tier, List<BlockKey> keys) {
    return scoped(scope -> LoadPrefix.blocks(tier, keys, OPTIONS, scope));
  }

  @Test
  void prefix_endsBeforeTheFirstBlockThatIsMissing_andOnlyItsBlocksCountAsUsed() {
    long hits = tier.stat().block(LIMIT).hits();
    StepVerifier.create(load(tier, StageFixtures.keys(16)).doOnNext(Blocks::assertBytes).map(Block::key))
        .expectNextSequence(StageFixtures.keys(9)).expectComplete().verify(LIMIT);
    assertThat(tier.stat().block(LIMIT).hits()).isEqualTo(hits + 9);
  }

  @Test
  void prefix_ofNothing_isEmpty() {
    StepVerifier.create(load(tier, StageFixtures.keys(16).subList(9, 16))).expectComplete().verify(LIMIT);
    StepVerifier.create(load(tier, List.of())).expectComplete().verify(LIMIT);
  }

  @Test
  void blockThatLeavesMeanwhile_endsThePrefixThere() {
    BlockTier forgetful = new FaultyTier(tier, call -> call == FaultyTier.Call.LEASE
        ? tier.remove(List.of(StageFixtures.key(4))).then()
        : Mono.empty());
    StepVerifier.create(load(forgetful, StageFixtures.keys(8)).map(Block::key))
        .expectNextSequence(StageFixtures.keys(4)).expectComplete().verify(LIMIT);
  }

  @Test
  void errorOfTheTier_isPassedOn() {
    TierClosedException gone = new TierClosedException("host");
    StepVerifier.create(load(FaultyTier.failing(tier, FaultyTier.Call.MATCH, gone), StageFixtures.keys(8)))
        .expectErrorSatisfies(error -> assertThat(error).isSameAs(gone)).verify(LIMIT);
  }
}
