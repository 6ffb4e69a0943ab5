package io.penstock.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import io.penstock.stack.HostTier;
import io.penstock.stage.Stage;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.FaultyTier;
import io.penstock.testkit.StageContract;
import io.penstock.testkit.StageFixtures;
import io.penstock.tier.BlockTier;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

final class LoadPrefixLayersTest extends StageContract<BlockKey, LayerSlice> {
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

  /// 8 blocks are 8 slices: two windows of two layers of four blocks, two blocks a slice.
  @Override
  protected Stage<BlockKey, LayerSlice> stage(BlockScope scope) {
    return keys -> keys.buffer(8)
        .concatMap(request -> LoadPrefix.layers(tier, request, FilledTier.SHAPE, scope), 0);
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

  private static Flux<LayerSlice> load(BlockTier tier, List<BlockKey> keys) {
    return scoped(scope -> LoadPrefix.layers(tier, keys, FilledTier.SHAPE, scope));
  }

  private static int blocks(List<LayerSlice> slices) {
    return (int) slices.stream().flatMap(slice -> slice.spans().stream()).map(span -> span.key()).distinct().count();
  }

  @Test
  void prefix_comesLayerByLayer_untilTheFirstBlockThatIsMissing() {
    List<LayerSlice> slices = new ArrayList<>();
    StepVerifier.create(load(tier, StageFixtures.keys(16)).doOnNext(slices::add)
        .doOnNext(slice -> slice.spans().forEach(Blocks::assertBytes))).thenConsumeWhile(slice -> true)
        .expectComplete().verify(LIMIT);
    assertThat(blocks(slices)).isEqualTo(9);
    assertThat(slices).extracting(slice -> slice.range().first()).startsWith(0, 0, 2, 2);
    assertThat(slices).last().satisfies(slice -> assertThat(slice.place().remaining()).isZero());
  }

  @Test
  void prefix_ofNothing_isEmpty() {
    StepVerifier.create(load(tier, StageFixtures.keys(16).subList(9, 16))).expectComplete().verify(LIMIT);
    StepVerifier.create(load(tier, List.of())).expectComplete().verify(LIMIT);
  }

  @Test
  void blockThatLeavesBetweenMatchAndLease_endsThePrefixThere() {
    BlockTier forgetful = new FaultyTier(tier, call -> call == FaultyTier.Call.LEASE
        ? tier.remove(List.of(StageFixtures.key(4))).then()
        : Mono.empty());
    List<LayerSlice> slices = new ArrayList<>();
    StepVerifier.create(load(forgetful, StageFixtures.keys(8)).doOnNext(slices::add)).thenConsumeWhile(slice -> true)
        .expectComplete().verify(LIMIT);
    assertThat(blocks(slices)).isEqualTo(4);
  }
}
