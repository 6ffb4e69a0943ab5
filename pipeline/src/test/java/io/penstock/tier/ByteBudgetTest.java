package io.penstock.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockScope;
import io.penstock.budget.BudgetExhaustedException;
import io.penstock.testkit.LeakLedger;
import io.penstock.testkit.Race;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.reactivestreams.Subscription;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.test.StepVerifier;

@Timeout(30)
final class ByteBudgetTest {
  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  @Test
  void acquire_waitsItsTurn() {
    ByteBudget budget = budget(100, 4);
    try (BlockScope scope = new BlockScope()) {
      List<ByteBudget.Permit> permits = new ArrayList<>();
      budget.acquire(60, scope).subscribe(permits::add);
      budget.acquire(50, scope).subscribe(permits::add);
      budget.acquire(10, scope).subscribe(permits::add);
      assertThat(permits).hasSize(1);
      permits.getFirst().close();
      assertThat(permits).hasSize(3);
      assertThat(budget.inUseBytes()).isEqualTo(60);
      assertThat(budget.peakBytes()).isEqualTo(60);
    }
    assertThat(budget.inUseBytes()).isZero();
  }

  @Test
  void acquire_isCold_andEverySubscriptionTakesAnew() {
    ByteBudget budget = budget(100, 4);
    try (BlockScope scope = new BlockScope()) {
      var permit = budget.acquire(10, scope);
      assertThat(budget.inUseBytes()).isZero();
      permit.subscribe();
      permit.subscribe();
      assertThat(budget.inUseBytes()).isEqualTo(20);
    }
  }

  @Test
  void acquire_tooMuchOrTooMany_isAnErrorSignal() {
    ByteBudget budget = budget(10, 1);
    try (BlockScope scope = new BlockScope()) {
      StepVerifier.create(budget.acquire(11, scope)).expectError(IllegalArgumentException.class).verify();
      budget.acquire(10, scope).subscribe();
      Disposable waiting = budget.acquire(1, scope).subscribe();
      StepVerifier.create(budget.acquire(1, scope)).expectError(BudgetExhaustedException.class).verify();
      waiting.dispose();
    }
  }

  @Test
  void cancel_whileWaiting_leavesTheQueue() {
    ByteBudget budget = budget(10, 4);
    try (BlockScope scope = new BlockScope()) {
      budget.acquire(10, scope).subscribe();
      Disposable waiting = budget.acquire(5, scope).subscribe();
      waiting.dispose();
      assertThat(budget.permits().waiting()).isZero();
    }
  }

  @Test
  void acquire_forAClosedScope_keepsNothing() {
    ByteBudget budget = budget(10, 4);
    BlockScope scope = new BlockScope();
    scope.close();
    budget.acquire(10, scope).subscribe();
    assertThat(budget.inUseBytes()).isZero();
  }

  @Test
  void cancelAgainstGrant_leaksNothingBeyondTheScope_andUsuallyNotEvenThere() {
    cancelAgainstGrant_leaksNothingBeyondTheScope_andUsuallyNotEvenThere(3_000);
  }

  @Tag("proof")
  @Test
  void cancelAgainstGrant_leaksNothingBeyondTheScope_andUsuallyNotEvenThere_atLength() {
    cancelAgainstGrant_leaksNothingBeyondTheScope_andUsuallyNotEvenThere(10_000);
  }

  private void cancelAgainstGrant_leaksNothingBeyondTheScope_andUsuallyNotEvenThere(int runs) {
    ByteBudget budget = budget(10, 4);
    try (Race race = new Race(2)) {
      for (int i = 0; i < runs; i++) {
        BlockScope scope = new BlockScope();
        AtomicReference<ByteBudget.Permit> holder = new AtomicReference<>();
        budget.acquire(10, new BlockScope()).subscribe(holder::set);
        Disposable waiting = budget.acquire(10, scope).subscribe();
        race.run(() -> holder.get().close(), waiting::dispose);
        assertThat(budget.inUseBytes()).as("run %d", i).isIn(0L, 10L).isEqualTo(10L * scope.open());
        scope.close();
        assertThat(budget.inUseBytes()).as("run %d", i).isZero();
        assertThat(budget.permits().waiting()).isZero();
      }
    }
  }

  @Test
  void pipelines_cancelledAnywhere_leakNothing() {
    ByteBudget budget = budget(100, 1_000);
    for (int seed = 0; seed < 10_000; seed++) {
      Random random = new Random(seed);
      int take = random.nextInt(6);
      Flux<Long> pipeline = Flux.using(BlockScope::new, scope -> Flux.range(0, 20)
          .flatMap(i -> budget.acquire(1 + random.nextInt(40), scope), 1 + random.nextInt(4), 1)
          .map(permit -> {
            long bytes = permit.left();
            if (random.nextBoolean()) {
              permit.close();
            }
            return bytes;
          }), BlockScope::close);
      BaseSubscriber<Long> subscriber = pipeline.subscribeWith(new BaseSubscriber<>() {
        @Override
        protected void hookOnSubscribe(Subscription subscription) {
          request(1L + take);
        }
      });
      subscriber.cancel();
      assertThat(budget.inUseBytes()).as("seed %d", seed).isZero();
      assertThat(budget.permits().waiting()).as("seed %d", seed).isZero();
    }
  }

  private ByteBudget budget(long capacity, int maxWaiters) {
    return leaks.watch(new ByteBudget("budget", capacity, maxWaiters));
  }
}
