package io.penstock.stage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Block;
import io.penstock.block.BlockScope;
import io.penstock.testkit.StageContract;
import io.penstock.testkit.StageFixtures;
import io.penstock.testkit.Thrower;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;
import reactor.test.publisher.TestPublisher;
import reactor.test.scheduler.VirtualTimeScheduler;

final class BatchTest extends StageContract<Block, List<Block>> {
  private static final Batch.Options OPTIONS = new Batch.Options(3, 100, Duration.ofMillis(10));

  private final VirtualTimeScheduler clock = VirtualTimeScheduler.create();

  @Override
  protected Stage<Block, List<Block>> stage(BlockScope scope) {
    return Batch.blocks(Batch.Options.defaults().withMaxCount(3).withMaxDelay(Duration.ofHours(1)), timer);
  }

  @Override
  protected Flux<Block> inputs(int count, BlockScope scope) {
    return StageFixtures.blocks(count, arena, scope);
  }

  @Override
  protected long outputs(int inputs) {
    return Math.ceilDiv(inputs, 3);
  }

  @Override
  protected long pulled(long demand) {
    return 3 * demand;
  }

  private Stage<Integer, List<Integer>> weighed() {
    return Batch.of(OPTIONS, weight -> weight, clock);
  }

  @Test
  void subscriberThatThrows_afterTheSourceHasEnded_getsTheError() {
    Thrower<List<Integer>> thrower = new Thrower<>(batch -> {});
    Flux.just(1, 2).transform(weighed()).subscribe(thrower);
    assertThat(thrower.ends()).containsExactly("thrown by the subscriber");
  }

  @Test
  void batch_count_endsIt() {
    StepVerifier.create(Flux.just(1, 2, 3, 4, 5).transform(weighed()))
        .expectNext(List.of(1, 2, 3), List.of(4, 5)).expectComplete().verify(LIMIT);
  }

  @Test
  void batch_bytes_endItBeforeTheElementThatDoesNotFit() {
    StepVerifier.create(Flux.just(60, 30, 20, 100, 90, 10, 5).transform(weighed()))
        .expectNext(List.of(60, 30), List.of(20), List.of(100), List.of(90, 10), List.of(5)).expectComplete()
        .verify(LIMIT);
  }

  @Test
  void batch_elementHeavierThanABatch_travelsAlone() {
    StepVerifier.create(Flux.just(1, 500, 2).transform(weighed()))
        .expectNext(List.of(1), List.of(500), List.of(2)).expectComplete().verify(LIMIT);
  }

  @Test
  void batch_requestOfNothing_isAnError_alsoWhenTheSourceHasEnded() {
    AtomicReference<Subscription> asks = new AtomicReference<>();
    AtomicReference<Throwable> error = new AtomicReference<>();
    Flux.just(60, 50).transform(weighed()).subscribe(new BaseSubscriber<>() {
      @Override
      protected void hookOnSubscribe(Subscription subscription) {
        asks.set(subscription);
        subscription.request(1);
      }

      @Override
      protected void hookOnError(Throwable thrown) {
        error.set(thrown);
      }
    });
    asks.get().request(0); // 50 waits for a request
    assertThat(error.get()).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("rule 3.9");
  }

  @Test
  void batch_delay_endsItFromItsFirstElementOn() {
    TestPublisher<Integer> source = TestPublisher.create();
    StepVerifier.create(source.flux().transform(weighed()))
        .then(() -> source.next(1)).then(() -> clock.advanceTimeBy(Duration.ofMillis(9)))
        .then(() -> source.next(2)).then(() -> clock.advanceTimeBy(Duration.ofMillis(1)))
        .expectNext(List.of(1, 2))
        .then(() -> source.next(3)).then(() -> clock.advanceTimeBy(Duration.ofMillis(10)))
        .expectNext(List.of(3))
        .then(source::complete).expectComplete().verify(LIMIT);
  }

  @Test
  void batch_fullBeforeItsDelay_leavesTheNextOneItsWholeDelay() {
    TestPublisher<Integer> source = TestPublisher.create();
    StepVerifier.create(source.flux().transform(weighed()))
        .then(() -> source.next(1)).then(() -> clock.advanceTimeBy(Duration.ofMillis(9)))
        .then(() -> source.next(2, 3)).expectNext(List.of(1, 2, 3))
        .then(() -> source.next(4)).then(() -> clock.advanceTimeBy(Duration.ofMillis(9)))
        .expectNoEvent(Duration.ZERO)
        .then(() -> clock.advanceTimeBy(Duration.ofMillis(1))).expectNext(List.of(4))
        .thenCancel().verify(LIMIT);
    source.assertCancelled();
  }

  @Test
  void batch_carriedOverElement_isDueAfterItsOwnDelay() {
    TestPublisher<Integer> source = TestPublisher.create();
    StepVerifier.create(source.flux().transform(weighed()))
        .then(() -> source.next(90, 20)).expectNext(List.of(90))
        .then(() -> clock.advanceTimeBy(Duration.ofMillis(10))).expectNext(List.of(20))
        .thenCancel().verify(LIMIT);
  }

  @Test
  void batch_dueWithoutDemand_waitsForItAndNeverOverflows() {
    TestPublisher<Integer> source = TestPublisher.create();
    StepVerifier.create(source.flux().transform(weighed()), 1)
        .then(() -> source.next(90, 20)).expectNext(List.of(90))
        .then(() -> clock.advanceTimeBy(Duration.ofHours(1))).expectNoEvent(Duration.ZERO)
        .thenRequest(1).expectNext(List.of(20))
        .then(source::complete).expectComplete().verify(LIMIT);
  }

  @Test
  void batch_error_comesAtOnceWithoutTheBatchUnderConstruction() {
    TestPublisher<Integer> source = TestPublisher.create();
    StepVerifier.create(source.flux().transform(weighed()))
        .then(() -> source.next(1)).then(() -> source.error(new IllegalStateException("boom")))
        .expectErrorMessage("boom").verifyThenAssertThat(LIMIT).hasDiscarded(1);
  }

  @Test
  void batch_completionWithoutDemand_keepsTheLastBatch() {
    TestPublisher<Integer> source = TestPublisher.create();
    StepVerifier.create(source.flux().transform(weighed()), 1)
        .then(() -> source.next(90, 20)).expectNext(List.of(90)).then(source::complete).expectNoEvent(Duration.ZERO)
        .thenRequest(1).expectNext(List.of(20)).expectComplete().verify(LIMIT);
  }

  @Test
  void batch_sourceThatHasPauses_isPulledOneByOne() {
    TestPublisher<Integer> source = TestPublisher.create();
    StepVerifier.create(source.flux().transform(weighed()), 0)
        .then(source::assertWasNotRequested).thenRequest(1)
        .then(() -> source.assertMinRequested(1)).then(() -> source.assertMaxRequested(1))
        .thenCancel().verify(LIMIT);
  }

  @Test
  void batch_weigherThatFails_failsTheStream() {
    StepVerifier.create(Flux.just(1, 2).transform(Batch.<Integer>of(OPTIONS, weight -> 1 / (weight - 2), clock)))
        .expectError(ArithmeticException.class).verify(LIMIT);
  }

  @Test
  void batch_timerThatWasStopped_failsTheStream_andDiscardsItsElementOnce() {
    var stopped = Schedulers.newSingle("stopped");
    stopped.dispose();
    List<Integer> discarded = new ArrayList<>();
    StepVerifier
        .create(Flux.just(1, 2).transform(Batch.<Integer>of(OPTIONS, weight -> 1, stopped)).doOnDiscard(Integer.class,
            discarded::add))
        .expectError(RejectedExecutionException.class).verify(LIMIT);
    assertThat(discarded).containsExactly(1);
  }

  @Test
  void options_outOfRange_nameRuleAndValue() {
    assertThatThrownBy(() -> OPTIONS.withMaxCount(0)).hasMessage("maxCount must be > 0 (was 0)");
    assertThatThrownBy(() -> OPTIONS.withMaxBytes(-1)).hasMessage("maxBytes must be > 0 (was -1)");
    assertThatThrownBy(() -> OPTIONS.withMaxDelay(Duration.ZERO)).hasMessage("maxDelay must be > 0 (was PT0S)");
    assertThat(Batch.Options.defaults().maxBytes()).isEqualTo(1 << 20);
  }
}
