package io.penstock.budget;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.testkit.LeakLedger;
import io.penstock.testkit.Race;
import io.penstock.tier.ByteBudget;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

@Timeout(30)
final class PermitsTest {
  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final List<String> granted = new ArrayList<>();

  @Test
  void acquire_whenFree_grantsOnTheCallersThreadAtOnce() {
    Permits permits = permits(10, 1);
    AtomicInteger thread = new AtomicInteger();
    permits.acquire(10, () -> thread.set(System.identityHashCode(Thread.currentThread())));
    assertThat(thread).hasValue(System.identityHashCode(Thread.currentThread()));
    assertThat(permits.inUse()).isEqualTo(10);
    permits.release(10);
    assertThat(permits.peak()).isEqualTo(10);
  }

  @Test
  void release_servesTheLineInOrder_andTheBigOneIsNotOvertaken() {
    Permits permits = permits(10, 8);
    permits.acquire(8, grant("first"));
    permits.acquire(9, grant("big"));
    permits.acquire(1, grant("small"));
    assertThat(permits.tryAcquire(1)).as("barging past the line").isFalse();
    assertThat(granted).containsExactly("first");
    permits.release(8);
    assertThat(granted).containsExactly("first", "big", "small");
    assertThat(permits.inUse()).isEqualTo(10);
    permits.release(9);
    permits.release(1);
  }

  @Test
  void cancel_ofTheBigOneAtTheHead_servesThoseBehindIt() {
    Permits permits = permits(10, 8);
    permits.acquire(8, grant("first"));
    Permits.Ticket big = permits.acquire(9, grant("big"));
    permits.acquire(2, grant("small"));
    assertThat(big.cancel()).isTrue();
    assertThat(big.cancel()).isFalse();
    assertThat(granted).containsExactly("first", "small");
    permits.release(10);
  }

  @Test
  void cancel_afterTheGrant_doesNothing() {
    Permits permits = permits(1, 1);
    Permits.Ticket ticket = permits.acquire(1, grant("it"));
    assertThat(ticket.cancel()).isFalse();
    assertThat(permits.inUse()).isEqualTo(1);
    permits.release(1);
  }

  @Test
  void acquire_beyondTheLine_isRefusedWithFigures() {
    Permits permits = permits(4, 1);
    permits.acquire(3, grant("holder"));
    permits.acquire(2, grant("waiter"));
    assertThatThrownBy(() -> permits.acquire(1, grant("one more")))
        .isInstanceOfSatisfying(BudgetExhaustedException.class, e -> {
          assertThat(e.wanted()).isEqualTo(1);
          assertThat(e.free()).isEqualTo(1);
          assertThat(e.budget()).isEqualTo("p");
        });
    permits.release(3);
    permits.release(2);
    assertThat(granted).containsExactly("holder", "waiter");
  }

  @Test
  void acquire_insideAGrant_takesFreeUnitsWithoutAPlaceInLine() {
    Permits permits = permits(4, 1);
    permits.acquire(1, () -> {
      permits.acquire(1, grant("a"));
      permits.acquire(1, grant("b"));
      permits.acquire(1, grant("c"));
      granted.add("outer");
    });
    assertThat(granted).containsExactly("outer", "a", "b", "c");
    permits.release(4);
  }

  @Test
  void acquire_thatCanNeverBeGranted_isRefused() {
    Permits permits = permits(4, 1);
    assertThatThrownBy(() -> permits.acquire(5, grant("x"))).isInstanceOf(IllegalArgumentException.class)
        .hasMessage("p: units must be <= capacity 4 (was 5)");
    assertThatThrownBy(() -> permits.acquire(0, grant("x"))).hasMessage("units must be > 0 (was 0)");
    assertThatThrownBy(() -> permits.tryAcquire(Long.MAX_VALUE)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> permits.release(1)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> permits.release(-1)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void acquire_nearTheLargestLong_doesNotOverflow() {
    Permits permits = permits(Long.MAX_VALUE, 2);
    permits.acquire(Long.MAX_VALUE - 1, grant("huge"));
    permits.acquire(Long.MAX_VALUE, grant("waits"));
    assertThat(granted).containsExactly("huge");
    permits.release(Long.MAX_VALUE - 1);
    permits.release(Long.MAX_VALUE);
    assertThat(granted).containsExactly("huge", "waits");
  }

  @Test
  void aLongLine_isServedWithoutDeepeningTheStack() {
    int waiters = 100_000;
    Permits permits = permits(1, waiters);
    AtomicInteger served = new AtomicInteger();
    permits.acquire(1, () -> {});
    for (int i = 0; i < waiters; i++) {
      permits.acquire(1, () -> {
        served.incrementAndGet();
        permits.release(1);
      });
    }
    permits.release(1);
    assertThat(served).hasValue(waiters);
  }

  @Test
  void aWaiterThatThrows_stopsNoOther_andTheReleaserDoesNotHearOfIt() {
    Permits permits = permits(1, 4);
    List<Throwable> uncaught = new ArrayList<>();
    Thread.currentThread().setUncaughtExceptionHandler((thread, failure) -> uncaught.add(failure));
    try {
      permits.acquire(1, grant("holder"));
      permits.acquire(1, () -> {
        permits.release(1);
        throw new IllegalStateException("bad waiter");
      });
      permits.acquire(1, () -> {
        permits.release(1);
        throw new AssertionError("an error, too");
      });
      permits.acquire(1, grant("last"));
      permits.release(1);
    } finally {
      Thread.currentThread().setUncaughtExceptionHandler(null);
    }
    assertThat(granted).containsExactly("holder", "last");
    assertThat(uncaught).extracting(Throwable::getMessage).containsExactly("bad waiter", "an error, too");
    permits.release(1);
  }

  @Test
  void aGrantThatThrowsOnItsCallersThread_isHeardThere() {
    Permits permits = permits(1, 1);
    assertThatThrownBy(() -> permits.acquire(1, () -> {
      throw new IllegalStateException("mine");
    })).hasMessage("mine");
    permits.release(1); // the grant owned it
    assertThat(permits.tryAcquire(1)).as("the line goes on").isTrue();
    permits.release(1);
  }

  @Test
  void close_refusesThoseInLineAndThoseWhoComeLater() {
    Permits permits = permits(1, 4);
    permits.acquire(1, grant("holder"));
    List<String> refused = new ArrayList<>();
    permits.acquire(1, grant("never"), refusal -> refused.add(refusal.getMessage()));
    permits.acquire(1, grant("never"), refusal -> refused.add(refusal.getMessage()));
    permits.close(() -> new IllegalStateException("shut"));
    assertThat(refused).containsExactly("shut", "shut");
    assertThatThrownBy(() -> permits.acquire(1, grant("late"))).hasMessage("shut");
    assertThatThrownBy(() -> permits.tryAcquire(1)).hasMessage("shut");
    permits.release(1);
    assertThat(granted).containsExactly("holder");
  }

  @Test
  void cancelAgainstGrant_leaksNothing() {
    try (Race race = new Race(2)) {
      for (int i = 0; i < 10_000; i++) {
        Permits permits = new Permits("p", 1, 1);
        AtomicInteger grants = new AtomicInteger();
        assertThat(permits.tryAcquire(1)).isTrue();
        Permits.Ticket ticket = permits.acquire(1, grants::incrementAndGet);
        boolean[] left = new boolean[1];
        race.run(() -> left[0] = ticket.cancel(), () -> permits.release(1));
        assertThat(grants.get()).as("run %d", i).isEqualTo(left[0] ? 0 : 1);
        assertThat(permits.inUse()).as("run %d", i).isEqualTo(grants.get());
        assertThat(permits.waiting()).isZero();
      }
    }
  }

  @Test
  void manyThreads_neverExceedTheCapacity_andAllAreServed() {
    manyThreads_neverExceedTheCapacity_andAllAreServed(4_000);
  }

  @Tag("proof")
  @Test
  void manyThreads_neverExceedTheCapacity_andAllAreServed_atLength() {
    manyThreads_neverExceedTheCapacity_andAllAreServed(20_000);
  }

  private void manyThreads_neverExceedTheCapacity_andAllAreServed(int rounds) {
    Permits permits = permits(100, 3 * rounds);
    AtomicLong held = new AtomicLong();
    AtomicLong grants = new AtomicLong();
    AtomicLong cancelled = new AtomicLong();
    try (Race race = new Race(3)) {
      Runnable[] tasks = new Runnable[3];
      for (int t = 0; t < 3; t++) {
        Random random = new Random(t);
        tasks[t] = () -> {
          for (int i = 0; i < rounds; i++) {
            long units = 1L + random.nextInt(60);
            Permits.Ticket ticket = permits.acquire(units, () -> {
              grants.incrementAndGet();
              if (held.addAndGet(units) > 100) {
                throw new AssertionError("in use must be <= 100");
              }
              if (units % 8 == 0) { // each gives the processor away, for as long as others want it
                Thread.yield();
              }
              held.addAndGet(-units);
              permits.release(units);
            });
            if (random.nextInt(4) == 0 && ticket.cancel()) {
              cancelled.incrementAndGet();
            }
          }
        };
      }
      race.run(tasks);
    }
    leaks.awaitEmpty(LeakLedger.PATIENCE);
    assertThat(grants.get() + cancelled.get()).isEqualTo(3L * rounds);
    assertThat(permits.peak()).isLessThanOrEqualTo(100);
  }

  @Test
  void bytePermit_refundsOnce_howeverItIsClosed() {
    Permits permits = permits(100, 1);
    assertThat(permits.tryAcquire(70)).isTrue();
    ByteBudget.Permit permit = new ByteBudget.Permit(permits, 70);
    permit.refund(30);
    assertThat(permits.inUse()).isEqualTo(40).isEqualTo(permit.left());
    assertThatThrownBy(() -> permit.refund(41)).isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("<= 40 left (was 41)");
    permit.close();
    permit.close();
    permit.refund(10);
    assertThat(permits.inUse()).isZero();
    assertThat(permit.left()).isZero();
  }

  @Test
  void bytePermit_refundAgainstClose_refundsAllOnce() {
    Permits permits = permits(100, 1);
    try (Race race = new Race(2)) {
      for (int i = 0; i < 5_000; i++) {
        assertThat(permits.tryAcquire(100)).isTrue();
        ByteBudget.Permit permit = new ByteBudget.Permit(permits, 100);
        race.run(() -> permit.refund(60), permit::close);
        assertThat(permits.inUse()).as("run %d", i).isZero();
      }
    }
  }

  private Permits permits(long capacity, int maxWaiters) {
    return leaks.watch(new Permits("p", capacity, maxWaiters));
  }

  private Runnable grant(String who) {
    return () -> granted.add(who);
  }
}
