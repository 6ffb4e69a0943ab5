package io.penstock.testkit;

import static io.penstock.testkit.BlockTierContract.RESERVE_BLOCKS;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.IncompleteBlockException;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierClosedException;
import io.penstock.tier.TierEvent;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// What a [BlockTier] promises when bytes are damaged, when it closes, and when readers and writers leave at any
/// moment, on many threads.
interface TierEndContract extends WriteSteps {
  @Test
  default void corruptMemory_isATypedError_andTheBlockIsQuarantined() {
    assumeTrue(contract().promises(TierPromise.EVENTS));
    BlockTier tier = tier(4);
    put(tier, keys(0, 3));
    contract().corruptStored(tier, key(1));
    assertThatThrownBy(() -> got(tier, keys(0, 3))).isInstanceOfSatisfying(BlockCorruptException.class, failure -> {
      assertThat(failure.key()).isEqualTo(key(1));
      assertThat(failure.granule()).isEqualTo(1);
    });
    await("the quarantine", () -> value(tier.stat()).corrupt() == 1);
    assertThat(events(tier, 4)).last().isInstanceOfSatisfying(TierEvent.Lost.class,
        lost -> assertThat(lost.key()).isEqualTo(key(1)));
    assertThat(got(tier, keys(0, 3))).as("the next one is a miss").containsExactly(key(0), key(2));
    put(tier, keys(1, 2));
    assertThat(got(tier, keys(0, 3))).hasSize(3);
  }

  @Test
  default void close_failsWhatWaits_andEverythingAfter() {
    assumeTrue(contract().reservesAtOnce());
    BlockTier tier = tier(2);
    put(tier, keys(30, 31));
    try (BlockScope scope = new BlockScope()) {
      List<Block> kept = new ArrayList<>();
      kept.add(scope.adopt(requireNonNull(tier.get(keys(30, 31), scope).blockFirst(PATIENCE)).share()));
      Reservation all = value(tier.reserve(keys(0, RESERVE_BLOCKS), scope));
      CompletableFuture<Reservation> inLine = tier.reserve(keys(10, 15), scope).toFuture();
      Lease waiting = value(tier.lease(keys(0, 1), OnMiss.AWAIT, scope));
      CompletableFuture<List<LeasedBlock>> windows = reading(waiting, 1, scope);
      Collector<TierEvent> events = new Collector<>(Long.MAX_VALUE);
      tier.events(0).subscribe(events);
      all.drafts().forEach(Blocks::produce);

      tier.close().block(PATIENCE);
      tier.close().block(PATIENCE);

      assertThatThrownBy(() -> got(inLine)).isInstanceOf(TierClosedException.class);
      assertThatThrownBy(() -> got(windows)).isInstanceOf(TierClosedException.class);
      await("the end of events", events::isOver);
      assertThat(events.failure()).isNull();
      for (Mono<?> call : List.of(tier.match(keys(0, 1)), tier.contains(keys(0, 1)),
          tier.lease(keys(0, 1), OnMiss.SKIP, scope),
          tier.get(keys(0, 1), scope).next(), tier.reserve(keys(0, 1), scope), tier.remove(keys(0, 1)),
          tier.events(0).next(),
          tier.stat(), all.commit(all.drafts()))) {
        assertThatThrownBy(() -> call.block(PATIENCE)).isInstanceOf(TierClosedException.class);
      }
      kept.forEach(Blocks::assertBytes); // a lease's block outlives the tier
    }
  }

  @Test
  default void cancel_atAnyPoint_leaksNothing() {
    cancel_atAnyPoint_leaksNothing(Math.min(1_000, contract().cancelledRuns()));
  }

  @Tag("proof")
  @Test
  default void cancel_atAnyPoint_leaksNothing_atLength() {
    cancel_atAnyPoint_leaksNothing(contract().cancelledRuns());
  }

  private void cancel_atAnyPoint_leaksNothing(int runs) {
    BlockTier tier = tier(4);
    for (int seed = 0; seed < runs; seed++) {
      Random random = new Random(seed);
      List<BlockKey> keys = someKeys(random, 10, 1 + random.nextInt(RESERVE_BLOCKS));
      try (BlockScope scope = new BlockScope(); BlockScope other = new BlockScope()) {
        List<Collector<?>> readers = new ArrayList<>();
        for (int i = 1 + random.nextInt(3); i > 0; i--) {
          readers.add(randomWork(tier, keys, random, random.nextInt(3) == 0 ? other : scope));
        }
        Collections.shuffle(readers, random);
        readers.forEach(reader -> {
          reader.ask(1 + random.nextInt(2));
          if (random.nextBoolean()) {
            reader.cancel();
          }
        });
      }
      assertIdle(tier, "seed " + seed);
    }
    value(tier.remove(keys(0, 10)));
    try (BlockScope scope = new BlockScope()) {
      assertThat(value(tier.reserve(keys(0, RESERVE_BLOCKS), scope)).skipped().count()).as("keys still being written")
          .isZero();
      assertThat(value(tier.reserve(keys(RESERVE_BLOCKS, 8), scope)).skipped().count()).as("keys still being written")
          .isZero();
    }
  }

  @Test
  default void manyThreads_neverSeeAHalfBlock_andLeaveNothingBehind() {
    manyThreads_neverSeeAHalfBlock_andLeaveNothingBehind(Math.min(500, contract().stressRounds()));
  }

  @Tag("proof")
  @Test
  default void manyThreads_neverSeeAHalfBlock_andLeaveNothingBehind_atLength() {
    manyThreads_neverSeeAHalfBlock_andLeaveNothingBehind(contract().stressRounds());
  }

  private void manyThreads_neverSeeAHalfBlock_andLeaveNothingBehind(int rounds) {
    BlockTier tier = tier(4);
    AtomicLong verified = new AtomicLong();
    Queue<Throwable> unexpected = new ConcurrentLinkedQueue<>();
    try (Race race = new Race(3)) {
      Runnable[] tasks = new Runnable[3];
      for (int t = 0; t < tasks.length; t++) {
        Random random = new Random(t);
        tasks[t] = () -> {
          for (int i = 0; i < rounds; i++) {
            try (BlockScope scope = new BlockScope()) {
              List<BlockKey> keys = someKeys(random, 8, 1 + random.nextInt(2));
              OnMiss onMiss = OnMiss.values()[random.nextInt(3)];
              tier.lease(keys, onMiss, scope).flatMapMany(lease -> lease.windows(2, scope))
                  .subscribe(window -> window.forEach(leased -> {
                    Blocks.assertBytes(leased.block());
                    verified.incrementAndGet();
                    leased.block().close();
                  }), failure -> note(unexpected, failure));
              if (random.nextInt(4) != 0) {
                tier.reserve(keys, scope).flatMap(reservation -> {
                  reservation.drafts().forEach(Blocks::produce);
                  return reservation.commit(reservation.drafts());
                }).subscribe(receipts -> {}, failure -> note(unexpected, failure));
              } else if (random.nextBoolean()) {
                tier.remove(keys).subscribe();
              }
            }
          }
        };
      }
      race.run(tasks);
    }
    assertThat(verified.get() > 0 || !contract().answersAtOnce()).as("something was read").isTrue();
    assertThat(unexpected).isEmpty();
    assertIdle(tier, "after the stress");
    value(tier.remove(keys(0, 8)));
    try (BlockScope scope = new BlockScope()) {
      assertThat(value(tier.reserve(keys(0, 8), scope)).skipped().count()).as("keys still being written").isZero();
    }
  }

  /// A scope that closes first ends what it owns; anything else is a failure, each of them if several parts failed.
  private void note(Queue<Throwable> unexpected, Throwable failure) {
    boolean holds = contract().promises(TierPromise.HOLDS_WHAT_IT_FOUND);
    Exceptions.unwrapMultiple(failure).stream()
        .filter(each -> holds || !(each instanceof IncompleteBlockException))
        .filter(each -> !(each instanceof CancellationException) && !(each instanceof IllegalStateException))
        .forEach(unexpected::add);
  }

  private Collector<?> randomWork(BlockTier tier, List<BlockKey> keys, Random random, BlockScope scope) {
    Collector<Object> reader = new Collector<>(random.nextInt(2));
    Flux<?> work = switch (random.nextInt(6)) {
      case 0 -> tier.get(keys, scope);
      case 1 -> tier.lease(keys, OnMiss.AWAIT, scope).flatMapMany(lease -> lease.windows(1, scope));
      case 2 -> tier.lease(keys, OnMiss.ADMIT, scope).flatMapMany(lease -> lease.windows(2, scope));
      case 3 -> tier.reserve(keys, scope).flux();
      case 4 -> tier.lease(keys, OnMiss.ADMIT, scope).flux();
      default -> tier.reserve(keys, scope).flatMapMany(reservation -> {
        List<BlockDraft> some = reservation.drafts().subList(0, random.nextInt(reservation.drafts().size() + 1));
        some.forEach(Blocks::produce);
        return reservation.commit(some);
      });
    };
    work.subscribe(reader);
    return reader;
  }
}
