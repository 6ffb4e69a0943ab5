package io.penstock.budget;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.testkit.Race;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The queue of [Permits] against a list, its edges, and budgets whose capacity changes.
@Timeout(30)
final class PermitsModelTest {
  /// Waits of one thread beside a change of the capacity.
  private static final int ASKS = 30;

  private final List<String> granted = new ArrayList<>();
  private final List<String> refused = new ArrayList<>();

  private Permits.Ticket acquire(Permits permits, long units, String who) {
    return permits.acquire(units, () -> granted.add(who), refusal -> refused.add(who + ": " + refusal.getMessage()));
  }

  // Arguments

  @ParameterizedTest
  @CsvSource({"0, 1, capacity must be > 0 (was 0)", "-1, 1, capacity must be > 0 (was -1)",
    "1, 0, maxWaiters must be > 0 (was 0)", "1, -1, maxWaiters must be > 0 (was -1)"})
  void wrongSizes_areRefused(long capacity, int maxWaiters, String message) {
    assertThatThrownBy(() -> new Permits("p", capacity, maxWaiters)).isInstanceOf(IllegalArgumentException.class)
        .hasMessage(message);
  }

  @Test
  void wrongUnits_areRefused_andChangeNothing() {
    Permits permits = new Permits("p", 10, 1);
    assertThat(permits.tryAcquire(4)).isTrue();
    assertThatThrownBy(() -> permits.tryAcquire(0)).hasMessage("units must be > 0 (was 0)");
    assertThatThrownBy(() -> permits.tryAcquire(11)).hasMessage("p: units must be <= capacity 10 (was 11)");
    assertThatThrownBy(() -> permits.acquire(Long.MIN_VALUE, () -> {}))
        .hasMessage("units must be > 0 (was -9223372036854775808)");
    assertThatThrownBy(() -> permits.release(0)).hasMessage("units must be > 0 (was 0)");
    assertThatThrownBy(() -> permits.release(5)).hasMessage("p: released units must be <= 4 in use (was 5)");
    assertThatThrownBy(() -> permits.raise(0)).hasMessage("units must be > 0 (was 0)");
    assertThatThrownBy(() -> permits.lower(0)).hasMessage("units must be > 0 (was 0)");
    assertThatThrownBy(() -> permits.lower(10)).hasMessage("capacity must be > 0 (was 0)");
    assertThatThrownBy(() -> permits.raise(Long.MAX_VALUE)).isInstanceOf(ArithmeticException.class);
    assertThat(permits.inUse()).isEqualTo(4);
    assertThat(permits.capacity()).isEqualTo(10);
    assertThat(permits.waiting()).isZero();
  }

  @Test
  void queue_takesAsManyAsItsLength_andAgainAsManyAsLeave() {
    Permits permits = new Permits("p", 1, 2);
    acquire(permits, 1, "holder");
    acquire(permits, 1, "a");
    Permits.Ticket b = acquire(permits, 1, "b");
    assertThatThrownBy(() -> acquire(permits, 1, "c")).isInstanceOf(BudgetExhaustedException.class);
    assertThat(permits.waiting()).isEqualTo(2).isEqualTo(permits.maxWaiters());
    b.cancel();
    acquire(permits, 1, "c");
    permits.release(1);
    permits.release(1);
    assertThat(granted).containsExactly("holder", "a", "c");
  }

  @Test
  void cancel_inTheMiddle_keepsTheOrderOfTheOthers() {
    Permits permits = new Permits("p", 1, 8);
    acquire(permits, 1, "0");
    List<Permits.Ticket> tickets = new ArrayList<>();
    for (int i = 1; i <= 5; i++) {
      tickets.add(acquire(permits, 1, "" + i));
    }
    tickets.get(2).cancel();
    tickets.get(4).cancel();
    for (int i = 0; i < 4; i++) {
      permits.release(1);
    }
    assertThat(granted).containsExactly("0", "1", "2", "4");
    assertThat(permits.inUse()).isZero();
  }

  @Test
  void cancel_insideTheGrantOfAnother_isInTimeOnlyForThoseThatStillWait() {
    Permits permits = new Permits("p", 2, 8);
    acquire(permits, 2, "holder");
    Permits.Ticket[] others = new Permits.Ticket[2];
    List<Boolean> left = new ArrayList<>();
    permits.acquire(1, () -> {
      left.add(others[0].cancel());
      left.add(others[1].cancel());
    });
    others[0] = acquire(permits, 1, "taken in the same release");
    others[1] = acquire(permits, 1, "waits");
    permits.release(2);
    assertThat(left).containsExactly(false, true);
    assertThat(granted).containsExactly("holder", "taken in the same release");
  }

  @Test
  void peak_isTheMostEverInUse() {
    Permits permits = new Permits("p", 10, 1);
    for (long units : new long[] {3, 7, 2}) {
      permits.tryAcquire(units);
      permits.release(units);
    }
    assertThat(permits.peak()).isEqualTo(7);
  }

  // Capacity

  @Test
  void raise_servesThoseThatFitNow() {
    Permits permits = new Permits("p", 2, 8);
    acquire(permits, 2, "holder");
    acquire(permits, 2, "a");
    acquire(permits, 1, "b");
    permits.raise(2);
    assertThat(granted).containsExactly("holder", "a");
    permits.raise(1);
    assertThat(granted).containsExactly("holder", "a", "b");
    assertThat(permits.inUse()).isEqualTo(5).isEqualTo(permits.capacity());
  }

  @Test
  void lower_belowWhatIsInUse_grantsNothingUntilUnitsCameBack() {
    Permits permits = new Permits("p", 10, 8);
    acquire(permits, 8, "holder");
    permits.lower(7);
    assertThat(permits.tryAcquire(1)).isFalse();
    acquire(permits, 3, "a");
    permits.release(6);
    assertThat(granted).containsExactly("holder");
    permits.release(2);
    assertThat(granted).containsExactly("holder", "a");
  }

  @Test
  void lower_refusesThoseThatNeverFit_andServesThoseBehindThem() {
    Permits permits = new Permits("p", 10, 8);
    acquire(permits, 2, "holder");
    acquire(permits, 9, "big");
    acquire(permits, 1, "small");
    permits.lower(6);
    assertThat(granted).containsExactly("holder", "small");
    assertThat(refused).singleElement().asString().startsWith("big: ");
    assertThat(permits.waiting()).isZero();
  }

  /// A wait that saw the former capacity must not stay at the head of the queue for ever.
  @Test
  void acquireAgainstLower_isGrantedOrRefused_andBlocksNoOther() {
    try (Race race = new Race(2)) {
      for (int round = 0; round < 1_500; round++) {
        Permits permits = new Permits("p", 10, ASKS);
        AtomicInteger ends = new AtomicInteger(); // both threads end waits
        race.run(() -> {
          for (int i = 0; i < ASKS; i++) {
            try {
              permits.acquire(9, ends::incrementAndGet, refusal -> ends.incrementAndGet());
            } catch (IllegalArgumentException e) {
              ends.incrementAndGet();
            }
          }
        }, () -> permits.lower(5));
        assertThat(permits.waiting()).as("round %d", round).isZero();
        assertThat(ends).as("round %d", round).hasValue(ASKS);
      }
    }
  }

  // Failures

  @Test
  void handlerThatFails_doesNotStopTheGrants() {
    Permits permits = new Permits("p", 1, 8);
    Thread thread = Thread.currentThread();
    Thread.UncaughtExceptionHandler before = thread.getUncaughtExceptionHandler();
    thread.setUncaughtExceptionHandler((where, failure) -> {
      throw new IllegalStateException("of the handler", failure);
    });
    try {
      acquire(permits, 1, "holder");
      permits.acquire(1, () -> {
        permits.release(1);
        throw new IllegalStateException("of the grant");
      });
      acquire(permits, 1, "next");
      permits.release(1);
      acquire(permits, 1, "later");
      permits.release(1);
    } finally {
      thread.setUncaughtExceptionHandler(before);
    }
    assertThat(granted).containsExactly("holder", "next", "later");
  }

  @Test
  void close_twice_refusesWithTheLastReason_andTakesUnitsBack() {
    Permits permits = new Permits("p", 2, 8);
    acquire(permits, 2, "holder");
    acquire(permits, 1, "a");
    permits.close(() -> new IllegalStateException("first"));
    permits.close(() -> new IllegalStateException("second"));
    assertThat(refused).containsExactly("a: first");
    assertThatThrownBy(() -> permits.tryAcquire(1)).hasMessage("second");
    permits.release(2);
    assertThat(permits.inUse()).isZero();
  }

  @Test
  void cancel_afterTheClose_doesNothing() {
    Permits permits = new Permits("p", 1, 8);
    acquire(permits, 1, "holder");
    Permits.Ticket ticket = acquire(permits, 1, "a");
    permits.close(() -> new IllegalStateException("shut"));
    assertThat(ticket.cancel()).isFalse();
    assertThat(refused).containsExactly("a: shut");
  }

  // Any operations

  private record Waiter(int number, long units) {}

  @ParameterizedTest
  @CsvSource({"1, 1, 3", "2, 10, 4", "3, 100, 50", "4, 7, 1"})
  void operationsAtRandom_areServedAsAListIs(int seed, long firstCapacity, int maxWaiters) {
    Random random = new Random(seed);
    Permits permits = new Permits("p", firstCapacity, maxWaiters);
    List<Integer> actual = new ArrayList<>();
    List<Integer> expected = new ArrayList<>();
    Deque<Waiter> queue = new ArrayDeque<>();
    Map<Integer, Permits.Ticket> tickets = new HashMap<>();
    List<Long> held = new ArrayList<>();
    long capacity = firstCapacity;
    for (int step = 0; step < 5_000; step++) {
      long inUse = held.stream().mapToLong(units -> units).sum();
      int number = step;
      switch (random.nextInt(8)) {
        case 0, 1, 2 -> {
          long units = 1 + random.nextLong(capacity);
          boolean fits = queue.isEmpty() && units <= capacity - inUse;
          if (!fits && queue.size() == maxWaiters) {
            assertThatThrownBy(() -> permits.acquire(units, () -> {})).isInstanceOf(BudgetExhaustedException.class);
          } else {
            tickets.put(number, permits.acquire(units, () -> actual.add(number), refusal -> actual.add(-number)));
            queue.add(new Waiter(number, units));
          }
        }
        case 3 -> {
          long units = 1 + random.nextLong(capacity);
          boolean fits = queue.isEmpty() && units <= capacity - inUse;
          assertThat(permits.tryAcquire(units)).as("seed %d, step %d", seed, step).isEqualTo(fits);
          if (fits) {
            held.add(units);
          }
        }
        case 4 -> {
          List<Waiter> all = List.copyOf(queue);
          if (!all.isEmpty()) {
            Waiter leaving = all.get(random.nextInt(all.size()));
            assertThat(tickets.get(leaving.number).cancel()).as("seed %d, step %d", seed, step).isTrue();
            queue.remove(leaving);
          }
        }
        case 5 -> {
          if (random.nextBoolean()) {
            long more = 1 + random.nextLong(5);
            capacity += more;
            permits.raise(more);
          } else if (capacity > 1) {
            long fewer = 1 + random.nextLong(capacity - 1);
            capacity -= fewer;
            permits.lower(fewer);
            long left = capacity;
            List<Waiter> unfit = queue.stream().filter(waiter -> waiter.units > left).toList();
            queue.removeAll(unfit);
            serve(queue, held, capacity, expected);
            unfit.forEach(waiter -> expected.add(-waiter.number));
          }
        }
        default -> {
          if (!held.isEmpty()) {
            permits.release(held.remove(random.nextInt(held.size())));
          }
        }
      }
      serve(queue, held, capacity, expected);
      assertThat(actual).as("seed %d, step %d", seed, step).isEqualTo(expected);
      assertThat(permits.waiting()).as("seed %d, step %d", seed, step).isEqualTo(queue.size());
      assertThat(permits.inUse()).as("seed %d, step %d", seed, step)
          .isEqualTo(held.stream().mapToLong(units -> units).sum());
      actual.clear();
      expected.clear();
    }
  }

  private static void serve(Deque<Waiter> queue, List<Long> held, long capacity, List<Integer> expected) {
    long inUse = held.stream().mapToLong(units -> units).sum();
    while (!queue.isEmpty() && queue.peek().units <= capacity - inUse) {
      Waiter next = queue.remove();
      inUse += next.units;
      held.add(next.units);
      expected.add(next.number);
    }
  }
}
