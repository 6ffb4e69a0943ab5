package io.penstock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockScope;
import io.penstock.block.SlabArena;
import io.penstock.stage.Stage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;
import reactor.test.publisher.PublisherProbe;

/// What every stage does: it respects demand, passes errors on, frees on cancel, ends with an empty source, and never
/// leaks.
///
/// @param <I> elements in
/// @param <O> elements out
@Timeout(60)
public abstract class StageContract<I, O> {
  protected static final Duration LIMIT = Duration.ofSeconds(10);
  private static final int INPUTS = 8;

  @RegisterExtension
  protected final LeakLedger leaks = new LeakLedger();

  protected final SlabArena arena = leaks.watch(new SlabArena("contract", Blocks.smallLayout(), 256, 64));
  /// Where stages that need a clock wait.
  protected final Scheduler timer = Schedulers.newSingle("contract-timer");

  @AfterEach
  void stopTimer() {
    timer.dispose();
  }

  /// The stage, for one subscription.
  protected abstract Stage<I, O> stage(BlockScope scope);

  /// The inputs `0 … count - 1` of one subscription, made one by one; what they own belongs to `scope`.
  protected abstract Flux<I> inputs(int count, BlockScope scope);

  /// The stage for a source without elements, where it must be told what to expect.
  protected Stage<I, O> stageOfNothing(BlockScope scope) {
    return stage(scope);
  }

  /// Outputs that these inputs make: one each, unless a stage says otherwise.
  protected long outputs(int inputs) {
    return inputs;
  }

  /// Most inputs that the stage takes when `demand` outputs were asked for: its prefetch, said out loud.
  protected abstract long pulled(long demand);

  /// Closes what the consumer got.
  protected void consume(O output) {
    close(output);
  }

  private static void close(Object output) {
    if (output instanceof AutoCloseable owned) {
      try {
        owned.close();
      } catch (Exception e) {
        throw new AssertionError("handles must close", e);
      }
    } else if (output instanceof Collection<?> many) {
      many.forEach(StageContract::close);
    }
  }

  /// Everything was given back by the time the stream ended; a stage whose copies run on after a cancel waits for them
  /// here.
  protected void assertFreed() {
    leaks.assertEmpty();
  }

  /// A pipeline in its scope, consumption included.
  protected static <T> Flux<T> scoped(Function<BlockScope, Flux<T>> body) {
    return Flux.using(BlockScope::new, body, BlockScope::close, false);
  }

  @Test
  final void contract_allInputs_areTurnedIntoOutputs() {
    StepVerifier.create(scoped(scope -> inputs(INPUTS, scope).transform(stage(scope)).doOnNext(this::consume)))
        .expectNextCount(outputs(INPUTS)).expectComplete().verify(LIMIT);
  }

  @Test
  final void contract_withoutDemand_emitsNothingAndPullsItsPrefetch() {
    AtomicLong pulled = new AtomicLong();
    StepVerifier
        .create(scoped(scope -> counted(inputs(INPUTS, scope), pulled).transform(stage(scope)).doOnNext(this::consume)),
            0)
        .expectSubscription()
        .then(() -> assertThat(pulled.get()).isLessThanOrEqualTo(pulled(0)))
        .thenCancel().verify(LIMIT);
  }

  @Test
  final void contract_demandOneByOne_emitsAndPullsNoMore() {
    AtomicLong pulled = new AtomicLong();
    List<O> got = new ArrayList<>();
    StepVerifier.FirstStep<O> first =
        StepVerifier.create(scoped(scope -> counted(inputs(INPUTS, scope), pulled).transform(stage(scope))
            .doOnNext(got::add).doOnNext(this::consume)), 0);
    StepVerifier.Step<O> step = first;
    for (long i = 1; i <= outputs(INPUTS); i++) {
      long asked = i;
      step = step.thenRequest(1).expectNextCount(1).then(() -> {
        assertThat(got).hasSize((int) asked);
        assertThat(pulled.get()).isLessThanOrEqualTo(pulled(asked));
      });
    }
    step.expectComplete().verify(LIMIT);
  }

  @Test
  final void contract_emptySource_completes() {
    StepVerifier.create(scoped(scope -> Flux.<I>empty().transform(stageOfNothing(scope)))).expectComplete()
        .verify(LIMIT);
  }

  @Test
  final void contract_emptySourceWithoutDemand_completes() {
    StepVerifier.create(scoped(scope -> Flux.<I>empty().transform(stageOfNothing(scope))), 0).expectComplete()
        .verify(LIMIT);
  }

  @Test
  final void contract_errorOfTheSource_isPassedOn() {
    IllegalStateException boom = new IllegalStateException("boom");
    StepVerifier
        .create(scoped(
            scope -> inputs(3, scope).concatWith(Flux.error(boom)).transform(stage(scope)).doOnNext(this::consume)))
        .thenConsumeWhile(output -> true)
        .expectErrorSatisfies(error -> assertThat(error).isSameAs(boom)).verify(LIMIT);
    assertFreed();
  }

  @Test
  final void contract_errorAtOnce_isPassedOn() {
    IllegalStateException boom = new IllegalStateException("boom");
    StepVerifier.create(scoped(scope -> Flux.<I>error(boom).transform(stage(scope))))
        .expectErrorSatisfies(error -> assertThat(error).isSameAs(boom)).verify(LIMIT);
  }

  @Test
  final void contract_cancelMidStream_cancelsTheSourceAndFreesEverything() {
    List<PublisherProbe<I>> probes = new ArrayList<>();
    StepVerifier.create(scoped(scope -> {
      probes.add(PublisherProbe.of(inputs(INPUTS, scope).concatWith(Flux.never())));
      return probes.getFirst().flux().transform(stage(scope)); // the scope closes what a reader forgets
    }), 1).expectNextCount(1).thenCancel().verify(LIMIT);

    probes.getFirst().assertWasCancelled();
    assertFreed();
  }

  /// Hops before and after the stage, so that every cancel races with what the stage does.
  @Test
  final void contract_cancelledRuns_leakNothing() {
    contract_cancelledRuns_leakNothing(1_000);
  }

  @Tag("proof")
  @Test
  final void contract_cancelledRuns_leakNothing_atLength() {
    contract_cancelledRuns_leakNothing(10_000);
  }

  private void contract_cancelledRuns_leakNothing(int runs) {
    Scheduler upstream = new HopThread("contract-upstream");
    Scheduler downstream = new HopThread("contract-downstream");
    Queue<Throwable> droppedErrors = new ConcurrentLinkedQueue<>();
    Hooks.onErrorDropped(droppedErrors::add);
    try {
      for (int i = 0; i < runs; i++) {
        cancelledRun(1 + i % 5, 1 + i % 3, upstream, downstream);
      }
      for (Scheduler hop : List.of(downstream, upstream, downstream)) { // what the last run left behind
        Mono.fromRunnable(() -> {}).subscribeOn(hop).block(LIMIT);
      }
      leaks.awaitEmpty(LIMIT);
      assertThat(droppedErrors).as("errors after a cancel").isEmpty();
    } finally {
      Hooks.resetOnErrorDropped();
      upstream.dispose();
      downstream.dispose();
    }
  }

  private void cancelledRun(int outputs, int prefetch, Scheduler upstream, Scheduler downstream) {
    scoped(scope -> inputs(INPUTS, scope).publishOn(upstream, prefetch).transform(stage(scope))
        .publishOn(downstream, prefetch)
        .doOnNext(this::consume).take(outputs)).blockLast(LIMIT);
  }

  private static <T> Flux<T> counted(Flux<T> source, AtomicLong pulled) {
    return source.doOnNext(each -> pulled.incrementAndGet());
  }
}
