package io.penstock.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.IncompleteBlockException;
import io.penstock.block.LayerSlice;
import io.penstock.block.SliceShape;
import io.penstock.block.UnexpectedSliceException;
import io.penstock.stack.HostTier;
import io.penstock.stage.Stage;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.StageContract;
import io.penstock.testkit.StageFixtures;
import io.penstock.tier.PutSource;
import io.penstock.tier.Receipt;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.test.StepVerifier;

final class OffloadPrefixLayersTest extends StageContract<List<BlockKey>, Receipt> {
  private HostTier tier;

  @BeforeEach
  void open() {
    tier = FilledTier.of(leaks, arena, List.of());
  }

  @AfterEach
  void closeTier() {
    tier.close().block(LIMIT);
  }

  private PutSource computing() {
    return new ProducingSource(arena, SliceShape.Order.LAYER_FIRST,
        (key, range, memory) -> Blocks.fill(key, range.offset(arena.layout()), memory));
  }

  /// Each run begins with a tier that has none of the blocks.
  @Override
  protected Stage<List<BlockKey>, Receipt> stage(BlockScope scope) {
    tier.remove(StageFixtures.keys(8)).block(LIMIT);
    return OffloadPrefix.layers(tier, FilledTier.SHAPE, computing());
  }

  /// Requests of one key.
  @Override
  protected Flux<List<BlockKey>> inputs(int count, BlockScope scope) {
    return Flux.fromIterable(StageFixtures.keys(count)).map(List::of);
  }

  @Override
  protected long pulled(long demand) {
    return demand == 0 ? 0 : demand + 1;
  }

  private Flux<Receipt> put(PutSource source) {
    return Flux.just(StageFixtures.keys(8)).transform(OffloadPrefix.layers(tier, FilledTier.SHAPE, source));
  }

  private static PutSource changed(PutSource source, UnaryOperator<Flux<LayerSlice>> change) {
    return window -> window.index() == 0 ? source.window(window) : change.apply(source.window(window));
  }

  @Test
  void layers_areComputedWindowByWindow_andVisible() {
    StepVerifier.create(put(computing()).map(Receipt::key)).expectNextSequence(StageFixtures.keys(8)).expectComplete()
        .verify(LIMIT);
    StepVerifier.create(scoped(scope -> tier.get(StageFixtures.keys(8), scope).doOnNext(Blocks::assertBytes)))
        .expectNextCount(8).expectComplete().verify(LIMIT);
  }

  @Test
  void keysThatTheTierHas_areNotComputed() {
    put(computing()).blockLast(LIMIT);
    StepVerifier.create(put(window -> Flux.error(new AssertionError("not wanted")))).expectComplete().verify(LIMIT);
  }

  @Test
  void windowWithoutItsLastSlice_isIncomplete_andTheOneBeforeStays() {
    StepVerifier.create(put(changed(computing(), slices -> slices.take(3)))).expectNextCount(4)
        .expectError(IncompleteBlockException.class).verify(LIMIT);
    assertThat(tier.match(StageFixtures.keys(8)).block(LIMIT)).isEqualTo(4);
    leaks.assertEmpty();
  }

  @Test
  void sliceThatComesTwice_isAnError() {
    StepVerifier.create(put(changed(computing(), slices -> slices.concatMap(slice -> Flux.just(slice, slice)))))
        .expectNextCount(4).expectError(UnexpectedSliceException.class).verify(LIMIT);
    leaks.assertEmpty();
  }

  @Test
  void sliceOfAnotherWindow_isAnError() {
    PutSource source = computing();
    StepVerifier.create(put(window -> source.window(new PutSource.Window(window.index() + 1,
        window.positions(), window.keys(), window.maxSliceBytes()))))
        .expectErrorMessage("slice window must be 0 (was 1)").verify(LIMIT);
    leaks.assertEmpty();
  }

  @Test
  void corruptSlice_isAnErrorAndItsWindowIsNotVisible() {
    StepVerifier.create(put(changed(computing(), slices -> slices.doOnNext(this::corrupt)))).expectNextCount(4)
        .expectErrorSatisfies(
            error -> assertThat(error).isInstanceOf(BlockCorruptException.class).hasMessageContaining("at store"))
        .verify(LIMIT);
    assertThat(tier.match(StageFixtures.keys(8)).block(LIMIT)).isEqualTo(4);
    leaks.assertEmpty();
  }

  private void corrupt(LayerSlice slice) {
    slice.spans().getFirst().buffer().put(1, (byte) 99); // as a fault of the memory would
  }
}
