package io.penstock.stage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Block;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSlice;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.StageContract;
import io.penstock.testkit.StageFixtures;
import io.penstock.testkit.Thrower;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.LeasedWindow;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.test.StepVerifier;
import reactor.test.publisher.PublisherProbe;
import reactor.test.publisher.TestPublisher;

final class SplitLayersTest extends StageContract<Block, LayerSlice> {
  private static final SliceShape OPTIONS = StageFixtures.split(256, SliceShape.Order.LAYER_FIRST);

  @Override
  protected Stage<Block, LayerSlice> stage(BlockScope scope) {
    return split(OPTIONS, scope);
  }

  /// Windows of blocks, numbered from 0 on, then slices.
  private static Stage<Block, LayerSlice> split(SliceShape shape, BlockScope scope) {
    return blocks -> blocks.index().map(each -> new LeasedBlock((int) (long) each.getT1(), each.getT2()))
        .buffer(shape.windowBlocks()).map(window -> scope.adopt(LeasedWindow.of(window, shape)))
        .transform(SplitLayers.into(scope));
  }

  @Override
  protected Flux<Block> inputs(int count, BlockScope scope) {
    return StageFixtures.blocks(count, arena, scope);
  }

  /// A slice holds one layer (128 bytes) of two blocks.
  /// Windows of 4 blocks make 4 slices.
  @Override
  protected long pulled(long demand) {
    return 4 * Math.ceilDiv(demand, 4L);
  }

  private List<LayerSlice> slices(int blocks, SliceShape options, BlockScope scope) {
    return inputs(blocks, scope).transform(split(options, scope)).collectList().block(LIMIT);
  }

  @Test
  void subscriberThatThrows_getsTheError() {
    Thrower<LayerSlice> thrower = new Thrower<>(LayerSlice::close);
    try (BlockScope scope = new BlockScope()) {
      inputs(4, scope).transform(split(OPTIONS, scope)).subscribe(thrower);
      assertThat(thrower.ends()).containsExactly("thrown by the subscriber");
    }
  }

  @Test
  void split_layerFirst_sendsEveryLayerOfAllBlocksBeforeTheNext() {
    try (BlockScope scope = new BlockScope()) {
      List<LayerSlice> slices = slices(4, OPTIONS, scope);
      assertThat(slices).extracting(slice -> slice.range().first()).containsExactly(0, 0, 2, 2);
      assertThat(slices).extracting(slice -> slice.spans().getFirst().key())
          .containsExactly(StageFixtures.key(0), StageFixtures.key(2), StageFixtures.key(0), StageFixtures.key(2));
      assertThat(slices).extracting(slice -> slice.place().remaining()).containsExactly(3, 2, 1, 0);
    }
  }

  @Test
  void split_blockFirst_sendsAllLayersOfABlockBeforeTheNext() {
    try (BlockScope scope = new BlockScope()) {
      List<LayerSlice> slices = slices(3, OPTIONS.withOrder(SliceShape.Order.BLOCK_FIRST).withSliceBytes(128), scope);
      assertThat(slices).extracting(slice -> slice.spans().getFirst().key()).containsExactly(StageFixtures.key(0),
          StageFixtures.key(0),
          StageFixtures.key(1), StageFixtures.key(1), StageFixtures.key(2), StageFixtures.key(2));
    }
  }

  @Test
  void split_severalWindows_areNumberedAndKeepPositions() {
    try (BlockScope scope = new BlockScope()) {
      List<LayerSlice> slices = slices(6, OPTIONS, scope);
      assertThat(slices).extracting(slice -> slice.place().window()).containsExactly(0, 0, 0, 0, 1, 1);
      assertThat(slices.get(1).position(1)).isEqualTo(3);
      assertThat(slices.get(5).position(0)).isEqualTo(4);
      assertThat(slices.get(5).place()).isEqualTo(new LayerSlice.Position(1, 0));
    }
  }

  @Test
  void split_leasedWindows_keepThePositionsOfTheRequest() {
    try (BlockScope scope = new BlockScope()) {
      Flux<LeasedWindow> windows = inputs(2, scope).collectList()
          .map(blocks -> List.of(new LeasedBlock(7, blocks.get(0)), new LeasedBlock(3, blocks.get(1))))
          .map(blocks -> LeasedWindow.of(blocks, OPTIONS)).flux();
      LayerSlice first = windows.transform(SplitLayers.into(scope)).blockFirst(LIMIT);
      assertThat(first.place().window()).isZero();
      assertThat(List.of(first.position(0), first.position(1))).containsExactly(7, 3);
    }
  }

  @Test
  void split_windowsThatEndAtOnce_areNumerousAndLeaveTheStackFlat() {
    try (BlockScope scope = new BlockScope()) {
      StepVerifier.create(Flux.range(0, 100_000).transform(SplitLayers.by(window -> Flux.empty(), scope)))
          .expectComplete().verify(LIMIT);
    }
  }

  @Test
  void split_nextWindow_isAskedForWhenASliceOfItIsWanted() {
    AtomicLong asked = new AtomicLong();
    StepVerifier.create(scoped(scope -> inputs(8, scope).buffer(4).map(blocks -> window(blocks))
        .doOnRequest(asked::addAndGet).transform(SplitLayers.into(scope)).doOnNext(LayerSlice::close)), 4)
        .expectNextCount(4).then(() -> assertThat(asked).hasValue(1))
        .thenRequest(1).expectNextCount(1).then(() -> assertThat(asked).hasValue(2)).thenCancel().verify(LIMIT);
  }

  private static LeasedWindow window(List<Block> blocks) {
    return LeasedWindow.of(blocks.stream().map(block -> new LeasedBlock(0, block)).toList(), OPTIONS);
  }

  @Test
  void split_cutThatThrows_isAnErrorAndCancelsTheSource() {
    PublisherProbe<Integer> source = PublisherProbe.of(Flux.just(1).concatWith(Flux.never()));
    try (BlockScope scope = new BlockScope()) {
      StepVerifier.create(source.flux().transform(SplitLayers.by(window -> {
        throw new IllegalArgumentException("no");
      }, scope))).expectErrorMessage("no").verify(LIMIT);
    }
    source.assertWasCancelled();
  }

  @Test
  void split_windowsThatFailWhileASliceIsTaken_areAnErrorBehindThatSlice() {
    TestPublisher<LeasedWindow> windows = TestPublisher.create();
    List<String> signals = new ArrayList<>();
    try (BlockScope scope = new BlockScope()) {
      windows.flux().transform(SplitLayers.into(scope)).subscribe(slice -> {
        signals.add("slice");
        windows.error(new IllegalStateException("boom"));
        signals.add("taken");
      }, error -> signals.add(String.valueOf(error.getMessage())));
      windows.next(window(inputs(4, scope).collectList().block(LIMIT)));
    }
    assertThat(signals).containsExactly("slice", "taken", "boom");
  }

  @Test
  void split_startLayer_leavesOutThoseBefore() {
    try (BlockScope scope = new BlockScope()) {
      List<LayerSlice> slices = slices(4, OPTIONS.withStartLayer(1), scope);
      assertThat(slices).hasSize(2).allSatisfy(slice -> assertThat(slice.range()).isEqualTo(GranuleRange.whole(2, 2)));
    }
  }

  @Test
  void split_bytes_areThoseOfTheBlocks() {
    try (BlockScope scope = new BlockScope()) {
      for (int sliceBytes : new int[] {16, 48, 64, 100, 128, 384, 512, 1024, 4096}) {
        List<LayerSlice> slices = slices(4, OPTIONS.withSliceBytes(sliceBytes), scope);
        assertThat(slices).allSatisfy(slice -> assertThat(slice.bytes()).isLessThanOrEqualTo(sliceBytes));
        assertThat(slices.stream().mapToInt(LayerSlice::bytes).sum()).isEqualTo(4 * 256);
        slices.forEach(slice -> slice.spans().forEach(Blocks::assertBytes));
        slices.forEach(LayerSlice::close);
      }
    }
  }

  @Test
  void split_lastSliceOfAWindow_closesItsBlocks() {
    List<Block> blocks = new ArrayList<>();
    StepVerifier
        .create(
            scoped(scope -> inputs(4, scope).doOnNext(blocks::add).transform(stage(scope)).doOnNext(LayerSlice::close)),
            3)
        .expectNextCount(3).then(() -> assertThat(blocks).noneMatch(Block::isClosed))
        .thenRequest(1).expectNextCount(1).then(() -> {
          assertThat(blocks).allMatch(Block::isClosed);
          assertThat(arena.claimedSlots()).isZero();
        }).expectComplete().verify(LIMIT);
  }

  @Test
  void split_cancelInsideAWindow_closesItsBlocksWithoutTheScope() {
    List<Block> blocks = new ArrayList<>();
    BlockScope scope = leaks.watch(new BlockScope());
    StepVerifier.create(inputs(4, scope).doOnNext(blocks::add).transform(stage(scope)), 1)
        .consumeNextWith(LayerSlice::close).thenCancel().verify(LIMIT);
    assertThat(blocks).allMatch(Block::isClosed);
  }

  @Test
  void split_sliceLessThanARow_failsAndClosesTheBlocks() {
    BlockScope scope = leaks.watch(new BlockScope());
    StepVerifier.create(inputs(1, scope).transform(split(OPTIONS.withSliceBytes(8), scope)))
        .expectErrorMessage("maxBytes must be >= one row of 16 bytes (was 8)").verify(LIMIT);
  }

  @Test
  void split_blocksOfTwoLayouts_fails() {
    BlockScope scope = leaks.watch(new BlockScope());
    SlabArena other = leaks.watch(new SlabArena("other", BlockLayout.attention(3, 4, 2, 4, ElementType.BF16), 1, 1));
    StepVerifier
        .create(inputs(1, scope)
            .concatWith(Flux.defer(() -> Flux.just(scope.adopt(Blocks.block(other, StageFixtures.key(9))))))
            .transform(stage(scope)))
        .expectError(IllegalArgumentException.class).verify(LIMIT);
  }

  @Test
  void options_outOfRange_nameRuleAndValue() {
    assertThatThrownBy(() -> OPTIONS.withWindowBlocks(0)).hasMessage("windowBlocks must be > 0 (was 0)");
    assertThatThrownBy(() -> OPTIONS.withSliceBytes(0)).hasMessage("sliceBytes must be > 0 (was 0)");
    assertThatThrownBy(() -> OPTIONS.withStartLayer(-1)).hasMessage("startLayer must be >= 0 (was -1)");
  }
}
