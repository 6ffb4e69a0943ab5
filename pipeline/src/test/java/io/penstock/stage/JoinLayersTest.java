package io.penstock.stage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.ElementType;
import io.penstock.block.GranuleRange;
import io.penstock.block.IncompleteBlockException;
import io.penstock.block.LayerSlice;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceOrder;
import io.penstock.block.SlicePosition;
import io.penstock.block.SliceShape;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.StageContract;
import io.penstock.testkit.StageFixtures;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;
import reactor.test.StepVerifier;
import reactor.test.publisher.TestPublisher;

final class JoinLayersTest extends StageContract<LayerSlice, Block> {
  private static final long SEED = 20261120;

  private final SlabArena target = leaks.watch(new SlabArena("target", Blocks.smallLayout(), 64, 64));

  @Override
  protected Stage<LayerSlice, Block> stage(BlockScope scope) {
    return JoinLayers.claiming(target, windows(8), scope);
  }

  @Override
  protected Stage<LayerSlice, Block> stageOfNothing(BlockScope scope) {
    return JoinLayers.claiming(target, List.of(), scope);
  }

  /// Four slices a window of two blocks, each a layer of one block.
  @Override
  protected Flux<LayerSlice> inputs(int count, BlockScope scope) {
    return slices(8, 128, scope).take(count);
  }

  @Override
  protected long outputs(int inputs) {
    return inputs / 4 * 2L;
  }

  /// A block ahead of demand: at most the slices of the next window.
  @Override
  protected long pulled(long demand) {
    return demand == 0 ? 0 : 4 * (Math.ceilDiv(demand, 2L) + 1);
  }

  /// The contract's eight inputs are two windows of two blocks.
  private static List<List<BlockKey>> windows(int slices) {
    List<List<BlockKey>> windows = new ArrayList<>();
    for (int i = 0; i < slices / 4; i++) {
      windows.add(StageFixtures.keys(64).subList(2 * i, 2 * i + 2));
    }
    return windows;
  }

  private Flux<LayerSlice> slices(int count, int sliceBytes, BlockScope scope) {
    return StageFixtures.blocks(count / 2, arena, scope)
        .transform(
            SplitLayers.blocks(StageFixtures.split(sliceBytes, SliceOrder.LAYER_FIRST).withWindowBlocks(2), scope));
  }

  private List<LayerSlice> split(int blocks, SliceShape options, BlockScope scope) {
    return StageFixtures.blocks(blocks, arena, scope).transform(SplitLayers.blocks(options, scope)).collectList()
        .block(LIMIT);
  }

  @ParameterizedTest
  @EnumSource
  void join_slicesOfAnySizeInAnyOrder_givesTheSameBytes(SliceOrder order) {
    Random random = new Random(SEED);
    for (int sliceBytes : new int[] {16, 48, 64, 100, 128, 200, 512, 1024, 4096}) {
      for (int round = 0; round < 5; round++) {
        try (BlockScope scope = new BlockScope()) {
          List<LayerSlice> slices = new ArrayList<>(split(4, StageFixtures.split(sliceBytes, order), scope));
          Collections.shuffle(slices, random);
          List<Block> blocks = Flux.fromIterable(slices)
              .transform(JoinLayers.claiming(target, StageFixtures.keys(4), 4, scope)).collectList().block(LIMIT);
          assertThat(blocks).as("seed %d, %d bytes, round %d", SEED, sliceBytes, round).hasSize(4)
              .allSatisfy(Blocks::assertBytes)
              .extracting(Block::key).containsExactlyInAnyOrderElementsOf(StageFixtures.keys(4));
          assertThat(slices).allMatch(LayerSlice::isClosed);
        }
        leaks.assertEmpty();
      }
    }
  }

  @Test
  void join_block_comesWithItsLastGranuleAndNotBefore() {
    TestPublisher<LayerSlice> source = TestPublisher.create();
    try (BlockScope scope = new BlockScope()) {
      List<LayerSlice> slices = split(2, StageFixtures.split(128, SliceOrder.BLOCK_FIRST), scope);
      StepVerifier.create(source.flux().transform(JoinLayers.claiming(target, StageFixtures.keys(2), 2, scope)))
          .then(() -> source.next(slices.get(1), slices.get(2))).expectNoEvent(Duration.ZERO)
          .then(() -> source.next(slices.get(3)))
          .assertNext(block -> assertThat(block.key()).isEqualTo(StageFixtures.key(1)))
          .then(() -> source.next(slices.get(0)))
          .assertNext(block -> assertThat(block.key()).isEqualTo(StageFixtures.key(0)))
          .then(source::complete).expectComplete().verify(LIMIT);
    }
  }

  @Test
  void join_duplicates_areHarmless() {
    try (BlockScope scope = new BlockScope()) {
      List<LayerSlice> first = split(4, StageFixtures.split(100, SliceOrder.LAYER_FIRST).withWindowBlocks(2), scope);
      List<LayerSlice> again = split(4, StageFixtures.split(100, SliceOrder.LAYER_FIRST).withWindowBlocks(2), scope);
      Flux<LayerSlice> twice =
          Flux.fromIterable(first).zipWithIterable(again).concatMapIterable(two -> List.of(two.getT1(), two.getT2()));
      StepVerifier
          .create(twice.transform(JoinLayers.claiming(target, StageFixtures.keys(4), 2, scope))
              .doOnNext(Blocks::assertBytes))
          .expectNextCount(4).expectComplete().verify(LIMIT);
      assertThat(again).allMatch(LayerSlice::isClosed);
    }
  }

  @Test
  void join_sameBytesCutAnotherWay_fillWhatIsMissing() {
    try (BlockScope scope = new BlockScope()) {
      LayerSlice secondGranule = split(2, StageFixtures.split(64, SliceOrder.BLOCK_FIRST), scope).get(1);
      List<LayerSlice> layers = split(2, StageFixtures.split(256, SliceOrder.LAYER_FIRST), scope);
      StepVerifier.create(Flux.just(secondGranule).concatWith(Flux.fromIterable(layers))
          .transform(JoinLayers.claiming(target, StageFixtures.keys(2), 2, scope)).doOnNext(Blocks::assertBytes))
          .expectNextCount(2).expectComplete().verify(LIMIT);
    }
  }

  @Test
  void join_missingGranule_isAnErrorAtTheEnd() {
    try (BlockScope scope = new BlockScope()) {
      List<LayerSlice> slices = split(1, StageFixtures.split(64, SliceOrder.LAYER_FIRST), scope);
      StepVerifier.create(Flux.fromIterable(slices).filter(slice -> slice.range().first() != 2)
          .transform(JoinLayers.claiming(target, StageFixtures.keys(1), 1, scope)))
          .expectErrorSatisfies(error -> {
            assertThat(((IncompleteBlockException) error).missing()).isEqualTo(1);
            assertThat(((IncompleteBlockException) error).key()).isEqualTo(StageFixtures.key(0));
          }).verify(LIMIT);
      assertThat(target.claimedSlots()).isZero();
    }
  }

  @Test
  void join_missingWindow_isAnErrorAtTheEnd() {
    try (BlockScope scope = new BlockScope()) {
      List<LayerSlice> slices = split(2, StageFixtures.split(64, SliceOrder.LAYER_FIRST).withWindowBlocks(2), scope);
      StepVerifier
          .create(Flux.fromIterable(slices).transform(JoinLayers.claiming(target, StageFixtures.keys(4), 2, scope)))
          .expectNextCount(2)
          .expectErrorSatisfies(
              error -> assertThat(((IncompleteBlockException) error).key()).isEqualTo(StageFixtures.key(2)))
          .verify(LIMIT);
    }
  }

  @Test
  void join_nextWindowBeforeTheLastGranule_isAnError() {
    try (BlockScope scope = new BlockScope()) {
      List<LayerSlice> slices = split(4, StageFixtures.split(64, SliceOrder.LAYER_FIRST).withWindowBlocks(2), scope);
      LayerSlice late = slices.get(3);
      StepVerifier.create(Flux.fromIterable(slices).filter(slice -> slice != late)
          .transform(JoinLayers.claiming(target, StageFixtures.keys(4), 2, scope)).doOnNext(Block::close))
          .thenConsumeWhile(block -> true).expectError(IncompleteBlockException.class).verify(LIMIT);
      assertThat(target.claimedSlots()).isZero();
    }
  }

  @Test
  void join_corruptSlice_isAnErrorAndShowsNothingOfTheBlock() {
    try (BlockScope scope = new BlockScope()) {
      Flux<LayerSlice> slices = StageFixtures.blocks(2, arena, scope).doOnNext(block -> corruptSecond(block))
          .transform(SplitLayers.blocks(StageFixtures.split(128, SliceOrder.LAYER_FIRST), scope));
      StepVerifier
          .create(slices.transform(JoinLayers.claiming(target, StageFixtures.keys(2), 2, scope)).doOnNext(Block::close))
          .consumeNextWith(block -> assertThat(block.key()).isEqualTo(StageFixtures.key(0)))
          .expectErrorSatisfies(error -> {
            assertThat(error).isInstanceOf(BlockCorruptException.class).hasMessageContaining("at join");
            assertThat(((BlockCorruptException) error).key()).isEqualTo(StageFixtures.key(1));
          }).verify(LIMIT);
      assertThat(target.claimedSlots()).isZero();
    }
  }

  @Test
  void join_corruptRows_areNeverJoined() {
    try (BlockScope scope = new BlockScope()) {
      Flux<LayerSlice> slices = StageFixtures.blocks(2, arena, scope).doOnNext(block -> corruptSecond(block))
          .transform(SplitLayers.blocks(StageFixtures.split(32, SliceOrder.BLOCK_FIRST), scope));
      StepVerifier
          .create(slices.transform(JoinLayers.claiming(target, StageFixtures.keys(2), 2, scope))
              .doOnNext(Blocks::assertBytes))
          .expectNextCount(1).expectError(BlockCorruptException.class).verify(LIMIT);
    }
  }

  private static void corruptSecond(Block block) {
    if (block.key().equals(StageFixtures.key(1))) {
      Blocks.corrupt(block, 255);
    }
  }

  @Test
  void join_fullArena_waitsForAWholeWindowAndPullsNothingMeanwhile() {
    SlabArena narrow = leaks.watch(new SlabArena("narrow", Blocks.smallLayout(), 3, 4));
    TestPublisher<LayerSlice> source = TestPublisher.create();
    BlockScope scope = leaks.watch(new BlockScope());
    List<LayerSlice> slices = split(4, StageFixtures.split(512, SliceOrder.LAYER_FIRST).withWindowBlocks(2), scope);
    List<Block> got = new ArrayList<>();
    StepVerifier
        .create(
            source.flux().transform(JoinLayers.claiming(narrow, StageFixtures.keys(4), 2, scope)).doOnNext(got::add))
        .then(() -> source.next(slices.get(0))).expectNextCount(2)
        .then(() -> source.next(slices.get(1))).expectNoEvent(Duration.ZERO)
        .then(() -> assertThat(narrow.claimedSlots()).as("all or nothing").isEqualTo(2))
        .then(() -> source.assertMaxRequested(2))
        .then(() -> got.get(0).close()).expectNextCount(2)
        .then(source::complete).expectComplete().verify(LIMIT);
    got.forEach(Block::close);
  }

  @Test
  void join_cancelWhileAWindowWaits_leavesTheLine() {
    SlabArena narrow = leaks.watch(new SlabArena("narrow", Blocks.smallLayout(), 1, 4));
    Block inTheWay = Blocks.block(narrow, StageFixtures.key(9));
    StepVerifier.create(scoped(scope -> slices(2, 128, scope).concatWith(Flux.never())
        .transform(JoinLayers.claiming(narrow, List.of(StageFixtures.keys(1)), scope))))
        .expectSubscription().expectNoEvent(Duration.ZERO).thenCancel().verify(LIMIT);
    inTheWay.close();
    assertThat(narrow.claimedSlots()).isZero();
  }

  @Test
  void join_sliceThatNobodyAskedFor_isAnError() {
    try (BlockScope scope = new BlockScope()) {
      List<LayerSlice> slices = split(2, StageFixtures.split(512, SliceOrder.LAYER_FIRST), scope);
      StepVerifier
          .create(Flux.fromIterable(slices).transform(JoinLayers.claiming(target, StageFixtures.keys(1), 1, scope)))
          .expectErrorSatisfies(error -> assertThat(error).isInstanceOf(UnexpectedSliceException.class)
              .hasMessageContaining("key must be one of 1 expected"))
          .verify(LIMIT);
      StepVerifier.create(inputs(1, scope).map(slice -> renumbered(slice, 7))
          .transform(JoinLayers.claiming(target, StageFixtures.keys(2), 2, scope)))
          .expectErrorMessage("slice of block %s in window 7: window must be < 1".formatted(StageFixtures.key(0)))
          .verify(LIMIT);
    }
  }

  private static LayerSlice renumbered(LayerSlice slice, int window) {
    return new LayerSlice(new SlicePosition(window, 0), slice.range(), new int[] {0},
        List.of(slice.spans().getFirst().share()));
  }

  @Test
  void join_sliceOfAnotherLayout_isAnError() {
    SlabArena other = leaks.watch(new SlabArena("other", BlockLayout.attention(3, 4, 2, 4, ElementType.BF16), 1, 1));
    try (BlockScope scope = new BlockScope()) {
      Flux<Block> block = Flux.defer(() -> Flux.just(scope.adopt(Blocks.block(other, StageFixtures.key(0)))));
      StepVerifier.create(block.transform(SplitLayers.blocks(SliceShape.defaults(), scope))
          .transform(JoinLayers.claiming(target, StageFixtures.keys(1), 1, scope)))
          .expectError(UnexpectedSliceException.class).verify(LIMIT);
    }
  }

  @Test
  void join_windowsThatCannotBe_areRefusedAtCallTime() {
    try (BlockScope scope = new BlockScope()) {
      assertThatThrownBy(() -> JoinLayers.claiming(target, List.of(List.of()), scope))
          .hasMessage("keys of a window must be > 0 and <= 64 slots (was 0)");
      assertThatThrownBy(() -> JoinLayers.claiming(target, Collections.nCopies(2, StageFixtures.key(0)), 2, scope))
          .hasMessage("keys of a window must be distinct (was 2 keys with duplicates)");
    }
  }

  @Test
  void landed_draftsThatHoldTheBytes_areSealedAndNotCopied() {
    try (BlockScope scope = new BlockScope()) {
      List<BlockDraft> drafts = StageFixtures.keys(2).stream().map(key -> Blocks.draft(target, key)).toList();
      Flux<LayerSlice> slices =
          Flux.range(0, 4).map(granule -> land(drafts, GranuleRange.whole(granule, 1), 3 - granule, scope));
      StepVerifier.create(slices.transform(JoinLayers.landed(drafts, scope)).doOnNext(Blocks::assertBytes))
          .expectNextCount(2).expectComplete().verify(LIMIT);
    }
  }

  @Test
  void landed_granuleThatNeverCame_isAnErrorAndAbandonsTheDrafts() {
    try (BlockScope scope = new BlockScope()) {
      List<BlockDraft> drafts = StageFixtures.keys(2).stream().map(key -> Blocks.draft(target, key)).toList();
      Flux<LayerSlice> slices =
          Flux.range(0, 3).map(granule -> land(drafts, GranuleRange.whole(granule, 1), 3 - granule, scope));
      StepVerifier.create(slices.transform(JoinLayers.landed(drafts, scope)))
          .expectError(IncompleteBlockException.class).verify(LIMIT);
      assertThat(target.claimedSlots()).isZero();
    }
  }

  private static LayerSlice land(List<BlockDraft> drafts, GranuleRange range, int remaining, BlockScope scope) {
    drafts.forEach(draft -> Blocks.produce(draft, range));
    return scope.adopt(new LayerSlice(new SlicePosition(0, remaining), range, new int[] {0, 1},
        drafts.stream().map(draft -> draft.span(range)).toList()));
  }
}
