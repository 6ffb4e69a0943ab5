package io.penstock.stage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Block;
import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import io.penstock.block.SliceOrder;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.StageContract;
import io.penstock.testkit.StageFixtures;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;
import reactor.test.publisher.TestPublisher;
import reactor.test.subscriber.TestSubscriber;

/// The contract runs on two destinations whose streams are put side by side again.
final class FanOutTest extends StageContract<Block, List<Block>> {
  private static final FanOutOptions OPTIONS = FanOutOptions.defaults().withLagElements(4);
  private static final long SEED = 11;

  @Override
  protected Stage<Block, List<Block>> stage(BlockScope scope) {
    return source -> Flux.zip(FanOut.blocks(source, List.of(scope, scope), OPTIONS), 1,
        shares -> List.of((Block) shares[0], (Block) shares[1]));
  }

  @Override
  protected Flux<Block> inputs(int count, BlockScope scope) {
    return StageFixtures.blocks(count, arena, scope);
  }

  /// The zip asks each destination for one element ahead.
  @Override
  protected long pulled(long demand) {
    return demand + 1;
  }

  private static List<TestSubscriber<Integer>> subscribe(List<Flux<Integer>> branches) {
    List<TestSubscriber<Integer>> subscribers = new ArrayList<>();
    for (Flux<Integer> branch : branches) {
      TestSubscriber<Integer> subscriber = TestSubscriber.builder().initialRequest(0).build();
      branch.subscribe(subscriber);
      subscribers.add(subscriber);
    }
    return subscribers;
  }

  @Test
  void fanOut_everyDestination_getsEverythingInOrder() {
    List<TestSubscriber<Integer>> to = subscribe(FanOut.of(Flux.range(0, 100), 3, each -> 1, OPTIONS));
    to.forEach(each -> each.request(Long.MAX_VALUE));
    assertThat(to).allSatisfy(each -> {
      assertThat(each.getReceivedOnNext()).hasSize(100).isSorted();
      assertThat(each.isTerminatedComplete()).isTrue();
    });
  }

  @Test
  void fanOut_firstDestination_doesNotStartTheSourceAlone() {
    TestPublisher<Integer> source = TestPublisher.create();
    List<Flux<Integer>> branches = FanOut.of(source.flux(), 2, each -> 1, OPTIONS);
    branches.get(0).subscribe();
    source.assertWasNotSubscribed();
    branches.get(1).subscribe();
    source.assertWasSubscribed();
  }

  @Test
  void fanOut_slowDestination_holdsTheSourceOnlyWhenItIsFull() {
    List<TestSubscriber<Integer>> to = subscribe(FanOut.of(Flux.range(0, 100), 2, each -> 1, OPTIONS));
    to.get(0).request(Long.MAX_VALUE);
    assertThat(to.get(0).getReceivedOnNext()).containsExactly(0, 1, 2, 3);
    assertThat(to.get(1).getReceivedOnNext()).isEmpty();
    to.get(1).request(1);
    assertThat(to.get(0).getReceivedOnNext()).hasSize(5);
    assertThat(to.get(1).getReceivedOnNext()).containsExactly(0);
  }

  @Test
  void fanOut_lagBytes_boundToo() {
    FanOutOptions bytes = OPTIONS.withLagElements(1000).withLagBytes(25);
    List<TestSubscriber<Integer>> to = subscribe(FanOut.of(Flux.range(0, 100), 2, each -> 10, bytes));
    to.get(0).request(Long.MAX_VALUE);
    assertThat(to.get(0).getReceivedOnNext()).as("at most one element over").hasSize(3);
  }

  @Test
  void fanOut_nobodyAsks_nothingIsPulled() {
    TestPublisher<Integer> source = TestPublisher.create();
    List<TestSubscriber<Integer>> to = subscribe(FanOut.of(source.flux(), 2, each -> 1, OPTIONS));
    source.assertWasNotRequested();
    to.get(1).request(1);
    source.assertMinRequested(1);
    source.assertMaxRequested(1);
  }

  @Test
  void fanOut_slowDestinationWithDrop_isDroppedAndTheOthersGoOn() {
    FanOutOptions drop = OPTIONS.withWhenFull(FanOutOptions.WhenFull.DROP);
    List<TestSubscriber<Integer>> to = subscribe(FanOut.of(Flux.range(0, 100), 2, each -> 10, drop));
    to.get(0).request(Long.MAX_VALUE);
    assertThat(to.get(0).getReceivedOnNext()).hasSize(100);
    assertThat(to.get(1).getReceivedOnNext()).isEmpty();
    LaggedException lagged = (LaggedException) to.get(1).expectTerminalError();
    assertThat(lagged.destination()).isEqualTo(1);
    assertThat(lagged.waitingElements()).isEqualTo(4);
    assertThat(lagged.waitingBytes()).isEqualTo(40);
  }

  @Test
  void fanOut_cancelledDestination_leavesAndHoldsNobody() {
    List<TestSubscriber<Integer>> to = subscribe(FanOut.of(Flux.range(0, 100), 2, each -> 1, OPTIONS));
    to.get(0).request(Long.MAX_VALUE);
    to.get(1).cancel();
    assertThat(to.get(0).getReceivedOnNext()).hasSize(100);
    assertThat(to.get(0).isTerminatedComplete()).isTrue();
  }

  @Test
  void fanOut_lastDestinationLeaves_cancelsTheSource() {
    TestPublisher<Integer> source = TestPublisher.create();
    List<TestSubscriber<Integer>> to = subscribe(FanOut.of(source.flux(), 2, each -> 1, OPTIONS));
    to.get(0).cancel();
    source.assertNotCancelled();
    to.get(1).cancel();
    source.assertCancelled();
  }

  @Test
  void fanOut_everybodyLeftBeforeTheStart_neverSubscribes() {
    TestPublisher<Integer> source = TestPublisher.create();
    List<Flux<Integer>> branches = FanOut.of(source.flux(), 2, each -> 1, OPTIONS);
    branches.forEach(branch -> branch.take(0).subscribe());
    source.assertWasNotSubscribed();
  }

  @Test
  void fanOut_error_reachesEveryDestinationAfterWhatCameBefore() {
    Flux<Integer> source = Flux.range(0, 2).concatWith(Flux.error(new IllegalStateException("boom")));
    List<TestSubscriber<Integer>> to = subscribe(FanOut.of(source, 2, each -> 1, OPTIONS));
    to.get(0).request(Long.MAX_VALUE);
    assertThat(to.get(0).expectTerminalError()).hasMessage("boom");
    assertThat(to.get(1).isTerminated()).isFalse();
    to.get(1).request(2);
    assertThat(to.get(1).getReceivedOnNext()).containsExactly(0, 1);
    assertThat(to.get(1).expectTerminalError()).hasMessage("boom");
  }

  @Test
  void fanOut_weigherThatFails_failsEveryDestinationAndCancelsTheSource() {
    TestPublisher<Integer> source = TestPublisher.create();
    List<TestSubscriber<Integer>> to = subscribe(FanOut.of(source.flux(), 2, each -> 1 / each, OPTIONS));
    to.forEach(each -> each.request(5));
    source.next(1, 0);
    source.assertCancelled();
    assertThat(to).allSatisfy(each -> assertThat(each.expectTerminalError()).isInstanceOf(ArithmeticException.class));
  }

  @Test
  void fanOut_secondSubscriberOfADestination_isRefused() {
    Flux<Integer> branch = FanOut.of(Flux.range(0, 3), 1, each -> 1, OPTIONS).getFirst();
    assertThat(branch.count().block(LIMIT)).isEqualTo(3);
    StepVerifier.create(branch).expectErrorMessage("destination must have one subscriber (was a second one)")
        .verify(LIMIT);
  }

  @Test
  void fanOut_blocks_everyDestinationOwnsAShare() {
    BlockScope first = leaks.watch(new BlockScope());
    BlockScope second = leaks.watch(new BlockScope());
    List<Flux<Block>> branches = FanOut.blocks(inputs(3, new BlockScope()), List.of(first, second), OPTIONS);
    List<Block> fast = new ArrayList<>();
    branches.get(0).subscribe(fast::add);
    TestSubscriber<Block> slow = TestSubscriber.builder().initialRequest(0).build();
    branches.get(1).subscribe(slow);
    fast.forEach(Block::close);
    assertThat(arena.claimedSlots()).as("the slow one's shares").isEqualTo(3);
    slow.request(1);
    Blocks.assertBytes(slow.getReceivedOnNext().getFirst());
    slow.cancel();
    assertThat(arena.claimedSlots()).as("what waited was freed").isEqualTo(1);
    second.close();
  }

  @Test
  void fanOut_droppedDestination_freesWhatWaitedForIt() {
    BlockScope scope = leaks.watch(new BlockScope());
    FanOutOptions drop = OPTIONS.withWhenFull(FanOutOptions.WhenFull.DROP);
    List<Flux<Block>> branches = FanOut.blocks(inputs(8, new BlockScope()), List.of(scope, scope), drop);
    TestSubscriber<Block> slow = TestSubscriber.builder().initialRequest(0).build();
    branches.get(1).subscribe(slow);
    branches.get(0).doOnNext(Block::close).blockLast(LIMIT);
    assertThat(slow.expectTerminalError()).isInstanceOf(LaggedException.class);
  }

  @Test
  void fanOut_requestOfNothing_isAnError_alsoWhenTheSourceHasEnded() {
    AtomicReference<Subscription> asks = new AtomicReference<>();
    AtomicReference<Throwable> error = new AtomicReference<>();
    List<Flux<Integer>> branches = FanOut.of(Flux.just(1), 2, each -> 1, OPTIONS);
    branches.get(1).subscribe(new BaseSubscriber<>() {
      @Override
      protected void hookOnSubscribe(Subscription subscription) {
        asks.set(subscription);
      }

      @Override
      protected void hookOnError(Throwable thrown) {
        error.set(thrown);
      }
    });
    branches.get(0).subscribe(); // 1 waits for the other
    asks.get().request(0);
    assertThat(error.get()).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("rule 3.9");
  }

  @Test
  void fanOut_slices_areSharedWithTheirPlaces() {
    BlockScope scope = leaks.watch(new BlockScope());
    Flux<LayerSlice> slices =
        inputs(4, scope).transform(SplitLayers.blocks(StageFixtures.split(256, SliceOrder.LAYER_FIRST), scope));
    List<Flux<LayerSlice>> branches = FanOut.slices(slices, List.of(scope, scope), OPTIONS);
    List<LayerSlice> left = new ArrayList<>();
    branches.get(0).subscribe(left::add);
    List<LayerSlice> right = branches.get(1).collectList().block(LIMIT);
    assertThat(right).hasSize(4).extracting(LayerSlice::place)
        .containsExactlyElementsOf(left.stream().map(LayerSlice::place).toList());
    assertThat(right.get(1).position(1)).isEqualTo(3);
    left.forEach(LayerSlice::close);
    right.forEach(slice -> slice.spans().forEach(Blocks::assertBytes));
    right.forEach(LayerSlice::close);
  }

  /// Destinations on threads of their own, with random demand; one leaves half-way. Nobody may lose, swap or wait for
  /// ever.
  @Test
  void fanOut_destinationsOnTheirOwnThreads_noneIsStarved() {
    Scheduler threads = Schedulers.newParallel("destinations", 3);
    try {
      for (int round = 0; round < 50; round++) {
        Random random = new Random(SEED + round);
        List<Flux<Integer>> branches = FanOut.of(Flux.range(0, 1_000).publishOn(threads), 3, each -> 1, OPTIONS);
        AtomicInteger misplaced = new AtomicInteger();
        Flux<Long> whole = Flux.merge(counting(branches.get(0), 1 + random.nextInt(8), threads, misplaced),
            counting(branches.get(1), 1 + random.nextInt(8), threads, misplaced),
            counting(branches.get(2).take(1 + random.nextInt(500)), 1, threads, misplaced));
        assertThat(whole.collectList().block(LIMIT)).as("seed %d", SEED + round).filteredOn(count -> count == 1_000)
            .hasSize(2);
        assertThat(misplaced).hasValue(0);
      }
    } finally {
      threads.dispose();
    }
  }

  private static Flux<Long> counting(Flux<Integer> branch, int prefetch, Scheduler thread, AtomicInteger misplaced) {
    AtomicInteger next = new AtomicInteger();
    return branch.publishOn(thread, prefetch)
        .doOnNext(each -> misplaced.addAndGet(each == next.getAndIncrement() ? 0 : 1)).count().flux();
  }

  @Test
  void options_outOfRange_nameRuleAndValue() {
    assertThatThrownBy(() -> OPTIONS.withLagElements(0)).hasMessage("lagElements must be > 0 (was 0)");
    assertThatThrownBy(() -> OPTIONS.withLagBytes(0)).hasMessage("lagBytes must be > 0 (was 0)");
    assertThatThrownBy(() -> FanOut.of(Flux.range(0, 1), 0, each -> 1, OPTIONS))
        .hasMessage("destinations must be > 0 (was 0)");
  }
}
