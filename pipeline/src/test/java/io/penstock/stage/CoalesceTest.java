package io.penstock.stage;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.BudgetExhaustedException;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.StageContract;
import io.penstock.testkit.StageFixtures;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

final class CoalesceTest extends StageContract<BlockKey, Block> {
  private static final BlockKey KEY = StageFixtures.key(0);

  private final AtomicInteger started = new AtomicInteger();
  private final AtomicInteger cancelled = new AtomicInteger();
  private final Sinks.One<BlockKey> gate = Sinks.one();
  private final Coalesce coalesce = new Coalesce(this::read, CoalesceOptions.defaults());

  /// A read that ends when the gate opens.
  private final Coalesce gated = new Coalesce((key, scope) -> gate.asMono().flatMap(open -> read(key, scope))
      .doOnSubscribe(subscription -> started.incrementAndGet()).doOnCancel(cancelled::incrementAndGet),
      new CoalesceOptions(1, 1));

  private Mono<Block> read(BlockKey key, BlockScope scope) {
    return Mono.fromCallable(() -> scope.adopt(Blocks.block(arena, key)));
  }

  @Override
  protected Stage<BlockKey, Block> stage(BlockScope scope) {
    return coalesce.stage(scope, 2);
  }

  @Override
  protected Flux<BlockKey> inputs(int count, BlockScope scope) {
    return Flux.range(0, count).map(i -> StageFixtures.key(i / 2));
  }

  @Override
  protected long pulled(long demand) {
    return demand + 2;
  }

  @Test
  void get_whileTheKeyIsRead_waitsForTheSameRead() {
    BlockScope scope = leaks.watch(new BlockScope());
    List<Block> got = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      gated.get(KEY, scope).subscribe(got::add);
    }
    assertThat(started).hasValue(1);
    assertThat(gated.openReads()).isEqualTo(1);
    gate.tryEmitValue(KEY);

    assertThat(got).hasSize(3).doesNotHaveDuplicates().allSatisfy(Blocks::assertBytes);
    assertThat(arena.claimedSlots()).as("one block, three shares").isEqualTo(1);
    assertThat(gated.openReads()).isZero();
    got.get(0).close();
    got.get(0).close();
    Blocks.assertBytes(got.get(1));
    got.forEach(Block::close);
  }

  @Test
  void get_afterTheRead_readsAgain() {
    BlockScope scope = leaks.watch(new BlockScope());
    gate.tryEmitValue(KEY);
    for (int i = 0; i < 3; i++) {
      gated.get(KEY, scope).block(LIMIT).close();
    }
    assertThat(started).hasValue(3);
  }

  @Test
  void get_oneOfTwoLeaves_theReadGoesOn() {
    BlockScope scope = leaks.watch(new BlockScope());
    List<Block> got = new ArrayList<>();
    Disposable first = gated.get(KEY, scope).subscribe(got::add);
    gated.get(KEY, scope).subscribe(got::add);
    first.dispose();
    assertThat(cancelled).hasValue(0);
    gate.tryEmitValue(KEY);
    assertThat(got).hasSize(1);
    got.forEach(Block::close);
  }

  @Test
  void get_lastOneLeaves_cancelsTheRead() {
    BlockScope scope = leaks.watch(new BlockScope());
    Disposable first = gated.get(KEY, scope).subscribe();
    Disposable second = gated.get(KEY, scope).subscribe();
    first.dispose();
    second.dispose();
    assertThat(cancelled).hasValue(1);
    assertThat(gated.openReads()).isZero();
    Disposable third = gated.get(KEY, scope).subscribe();
    assertThat(started).as("a new read").hasValue(2);
    third.dispose();
  }

  @Test
  void get_error_reachesAllAndIsNotKept() {
    BlockScope scope = leaks.watch(new BlockScope());
    List<Throwable> errors = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      gated.get(KEY, scope).subscribe(block -> {}, errors::add);
    }
    gate.tryEmitError(new IllegalStateException("boom"));
    assertThat(errors).hasSize(3).allSatisfy(error -> assertThat(error).hasMessage("boom"));
    assertThat(gated.openReads()).isZero();
  }

  @Test
  void get_miss_isEmptyForAll() {
    Coalesce misses = new Coalesce((key, scope) -> Mono.empty(), CoalesceOptions.defaults());
    StepVerifier.create(misses.get(KEY, new BlockScope())).expectComplete().verify(LIMIT);
  }

  @Test
  void get_readerThatThrows_isAnError() {
    BiFunction<BlockKey, BlockScope, Mono<Block>> broken = (key, scope) -> {
      throw new IllegalStateException("boom");
    };
    StepVerifier.create(new Coalesce(broken, CoalesceOptions.defaults()).get(KEY, new BlockScope()))
        .expectErrorMessage("boom").verify(LIMIT);
  }

  @Test
  void get_withoutDemand_readsNothing() {
    StepVerifier.create(gated.get(KEY, new BlockScope()), 0).expectSubscription()
        .then(() -> assertThat(started).hasValue(0)).thenCancel().verify(LIMIT);
  }

  @Test
  void get_moreKeysThanReads_waitInLineAndTheLineEnds() {
    BlockScope scope = leaks.watch(new BlockScope());
    Disposable reading = gated.get(StageFixtures.key(0), scope).subscribe();
    Disposable waiting = gated.get(StageFixtures.key(1), scope).subscribe();
    StepVerifier.create(gated.get(StageFixtures.key(2), scope)).expectError(BudgetExhaustedException.class)
        .verify(LIMIT);
    assertThat(started).hasValue(1);
    reading.dispose();
    assertThat(started).as("the line moved on").hasValue(2);
    waiting.dispose();
    assertThat(gated.openReads()).isZero();
  }

  @Test
  void get_waiterInLineLeaves_isNeverRead() {
    BlockScope scope = leaks.watch(new BlockScope());
    List<Block> got = new ArrayList<>();
    gated.get(StageFixtures.key(0), scope).subscribe(got::add);
    gated.get(StageFixtures.key(1), scope).subscribe(got::add).dispose();
    gate.tryEmitValue(KEY);
    assertThat(got).hasSize(1);
    assertThat(started).hasValue(1);
    got.forEach(Block::close);
  }

  /// Two threads join and leave the reads of few keys: permits and shares must all come back.
  @Test
  void get_joinsAndLeavesOfTwoThreads_leakNothing() {
    Scheduler readers = Schedulers.newSingle("readers");
    Scheduler askers = Schedulers.newParallel("askers", 2);
    AtomicLong reads = new AtomicLong();
    Coalesce busy =
        new Coalesce((key, scope) -> read(key, scope).doOnSubscribe(s -> reads.incrementAndGet()).subscribeOn(readers),
            new CoalesceOptions(2, 64));
    try {
      Flux.range(0, 20_000).flatMap(i -> scoped(scope -> Flux.range(0, 3)
          .flatMap(
              j -> busy.get(StageFixtures.key((i + j) % 4), scope).doOnNext(Blocks::assertBytes).doOnNext(Block::close))
          .take(1 + i % 3)).subscribeOn(askers), 4, 1)
          .blockLast(LIMIT);
      leaks.awaitEmpty(LIMIT);
      assertThat(busy.openReads()).isZero();
      assertThat(reads.get()).isPositive();
      StepVerifier
          .create(scoped(
              scope -> Flux.range(0, 8).flatMap(i -> busy.get(StageFixtures.key(i), scope).doOnNext(Block::close))))
          .as("no permit was lost").expectNextCount(8).expectComplete().verify(LIMIT);
    } finally {
      readers.dispose();
      askers.dispose();
    }
  }
}
