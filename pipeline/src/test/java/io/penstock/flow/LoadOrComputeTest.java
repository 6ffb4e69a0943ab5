package io.penstock.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import io.penstock.block.SliceShape;
import io.penstock.stack.HostTier;
import io.penstock.stage.Stage;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.StageContract;
import io.penstock.testkit.StageFixtures;
import io.penstock.tier.Lease;
import io.penstock.tier.PutSource;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;
import reactor.test.publisher.PublisherProbe;

final class LoadOrComputeTest extends StageContract<BlockKey, LayerSlice> {
  private HostTier tier;

  /// The tier has blocks 0 to 3.
  @BeforeEach
  void fill() {
    tier = FilledTier.of(leaks, arena, List.of(0, 1, 2, 3));
  }

  @AfterEach
  void closeTier() {
    tier.close().block(LIMIT);
  }

  /// Each run begins with a tier that has blocks 0 to 3; those that are missing are computed, so that 8 blocks are 8
  /// slices.
  @Override
  protected Stage<BlockKey, LayerSlice> stage(BlockScope scope) {
    tier.remove(StageFixtures.keys(8).subList(4, 8)).block(LIMIT);
    return keys -> keys.buffer(8).concatMap(request -> LoadOrCompute.layers(tier, request, FilledTier.SHAPE,
        lease -> compute(lease, request), scope), 0);
  }

  private Mono<Void> compute(Lease lease, List<BlockKey> keys) {
    PutSource source = new ProducingSource(arena, SliceShape.Order.LAYER_FIRST,
        (key, range, memory) -> Blocks.fill(key, range.offset(arena.layout()), memory));
    return Flux.just(lease.admitted().bits().stream().mapToObj(keys::get).toList())
        .transform(OffloadPrefix.layers(tier, FilledTier.SHAPE, source)).then();
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

  /// A writer that was cancelled gives its room back a moment later, on the thread that it runs on.
  @Override
  protected void assertFreed() {
    leaks.awaitEmpty(LIMIT);
  }

  private Flux<LayerSlice> load(Mono<Void> computed) {
    return scoped(scope -> LoadOrCompute.layers(tier, StageFixtures.keys(8), FilledTier.SHAPE, lease -> computed,
        scope));
  }

  @Test
  void request_isCompleteAndRight() {
    List<LayerSlice> slices = new ArrayList<>();
    StepVerifier.create(scoped(scope -> inputs(8, scope).transform(stage(scope)).doOnNext(slices::add)
        .doOnNext(slice -> slice.spans().forEach(Blocks::assertBytes)))).thenConsumeWhile(slice -> true)
        .expectComplete().verify(LIMIT);
    assertThat(slices.stream().flatMap(slice -> slice.spans().stream()).mapToInt(span -> span.bytes()).sum())
        .isEqualTo(8 * arena.layout().blockBytes());
    assertThat(tier.match(StageFixtures.keys(8)).block(LIMIT)).isEqualTo(8);
  }

  @Test
  void request_thatTheTierHas_isNotComputed() {
    PublisherProbe<Void> compute = PublisherProbe.empty();
    StepVerifier.create(scoped(scope -> LoadOrCompute.layers(tier, StageFixtures.keys(4), FilledTier.SHAPE,
        lease -> compute.mono(), scope))).expectNextCount(4).expectComplete().verify(LIMIT);
    compute.assertWasNotSubscribed();
  }

  @Test
  void computationThatFails_isTheError() {
    IllegalStateException boom = new IllegalStateException("boom");
    StepVerifier.create(load(Mono.error(boom))).thenConsumeWhile(slice -> true)
        .expectErrorSatisfies(error -> assertThat(error).isSameAs(boom)).verify(LIMIT);
  }

  @Test
  void cancel_cancelsTheComputation() {
    PublisherProbe<Void> compute = PublisherProbe.of(Mono.never());
    StepVerifier.create(load(compute.mono())).expectNextCount(4).then(compute::assertWasSubscribed).thenCancel()
        .verify(LIMIT);
    compute.assertWasCancelled();
  }
}
