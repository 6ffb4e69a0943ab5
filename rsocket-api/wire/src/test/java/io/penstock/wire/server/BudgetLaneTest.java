package io.penstock.wire.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.budget.BudgetExhaustedException;
import io.penstock.budget.Permits;
import io.penstock.wire.credit.Budget;
import io.penstock.wire.credit.BudgetLane;
import io.penstock.wire.credit.NodeBudget;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class BudgetLaneTest {
  private final Permits permits = new Permits("node", 8, 2);
  private final List<String> granted = new ArrayList<>();
  private final List<String> refused = new ArrayList<>();

  private BudgetLane lane(String name, long share) {
    return new BudgetLane(name, Budget.of(permits), share, 4);
  }

  private Budget.Place acquire(Budget lane, String name, long bytes) {
    return lane.acquire(bytes, () -> granted.add(name), refusal -> refused.add(name + ": " + refusal.getMessage()));
  }

  @Test
  void lane_takesItsShareAndNoMore() {
    BudgetLane lane = lane("lane", 6);
    assertThat(lane.tryAcquire(6)).isTrue();
    assertThat(lane.tryAcquire(1)).isFalse();
    assertThat(permits.inUse()).isEqualTo(6);
    lane.release(6);
    assertThat(List.of(permits.inUse(), lane.inUse())).containsOnly(0L);
  }

  @Test
  void lanes_takeTurns_howeverManyWaitersEachHas() {
    BudgetLane greedy = lane("greedy", 8);
    BudgetLane modest = lane("modest", 8);
    permits.tryAcquire(8);
    for (int i = 0; i < 4; i++) {
      acquire(greedy, "greedy", 4);
    }
    acquire(modest, "modest", 4);
    permits.release(8);
    assertThat(granted).containsExactly("greedy", "modest");
    greedy.release(4);
    assertThat(granted).containsExactly("greedy", "modest", "greedy");
  }

  @Test
  void lane_whoseShareIsUsedUp_keepsNoOtherFromTheBudget() {
    BudgetLane stalled = lane("stalled", 6);
    BudgetLane other = lane("other", 6);
    assertThat(stalled.tryAcquire(6)).isTrue();
    acquire(stalled, "stalled", 2);
    acquire(other, "other", 2);
    assertThat(granted).containsExactly("other");
    other.release(2);
    assertThat(other.tryAcquire(2)).isTrue();
  }

  @Test
  void fairLanes_thatKeepWhatTheyHave_leaveAPartForANewcomer() {
    for (int parties : new int[] {1, 2, 7, 30, 300}) {
      int capacity = 1 << 16;
      BudgetLane whole =
          new BudgetLane("whole", Budget.of(new Permits("big", capacity, 8)), capacity, Integer.MAX_VALUE);
      for (int i = 0; i < parties; i++) {
        BudgetLane greedy = whole.part("greedy " + i, capacity, 4, 1);
        while (greedy.tryAcquire(1)) {
        }
      }
      assertThat(whole.free()).as("free beside %d parties", parties)
          .isBetween(capacity / (parties + 1L) - parties, capacity / (parties + 1L) + parties);
    }
  }

  @Test
  void fairLane_thatWaitsForMoreToBeFree_isServedWhenAnotherGivesBack() {
    BudgetLane whole = new BudgetLane("whole", Budget.of(permits), 8, 4);
    BudgetLane first = whole.part("first", 8, 4, 1);
    BudgetLane second = whole.part("second", 8, 4, 1);
    assertThat(first.tryAcquire(4)).isTrue();
    assertThat(second.tryAcquire(1)).isTrue();
    acquire(second, "second", 3);
    assertThat(granted).isEmpty();
    first.release(4);
    assertThat(granted).containsExactly("second");
    second.release(4);
    assertThat(List.of(permits.inUse(), whole.inUse(), second.inUse())).containsOnly(0L);
  }

  @Test
  void connection_thatWaitsForMoreToBeFree_isServedWhenAnotherAddressGivesBack() {
    BudgetLane node = new BudgetLane("node", Budget.of(permits), 8, 4);
    BudgetLane here = node.part("here", 8, 4, 4);
    BudgetLane there = node.part("there", 8, 4, 4);
    BudgetLane connection = here.part("connection", 8, 4, 1);
    assertThat(there.tryAcquire(6)).isTrue();
    assertThat(connection.tryAcquire(1)).isTrue();
    acquire(connection, "waited", 2);
    assertThat(granted).isEmpty();
    there.release(6);
    assertThat(granted).containsExactly("waited");
    connection.release(3);
    assertThat(List.of(permits.inUse(), node.inUse(), here.inUse(), connection.inUse())).containsOnly(0L);
  }

  @Test
  void returned_countsWhatWasGivenBack_andNotWhatWasRefused() {
    BudgetLane lane = lane("lane", 8);
    permits.tryAcquire(8);
    assertThat(lane.tryAcquire(4)).isFalse();
    assertThat(lane.returned()).isZero();
    permits.release(8);
    assertThat(lane.tryAcquire(4)).isTrue();
    lane.release(4);
    assertThat(lane.returned()).isEqualTo(4);
  }

  @Test
  void connectionsOfOneAddress_howeverMany_leaveRoomForAnotherAddress() {
    Permits blocks = new Permits("windows", 128, 1);
    FairShares shares = new FairShares(new NodeBudget(permits, 4),
        new BudgetLane("messages", Budget.of(new Permits("messages", 64, 1)), 64, 64),
        new BudgetLane("windows", Budget.of(blocks), 128, 64));
    for (int i = 0; i < 16; i++) {
      BudgetLane greedy = shares.enter(null, "there").windows(4);
      for (int window = 0; window < 4; window++) {
        greedy.takeUpTo(64);
      }
    }
    assertThat(shares.enter(null, "here").windows(4).takeUpTo(8)).isEqualTo(8);
  }

  @Test
  void waiterThatLeaves_whereverItWaits_givesItsTurnToTheNext() {
    BudgetLane lane = lane("lane", 8);
    permits.tryAcquire(8);
    Budget.Place first = acquire(lane, "first", 4);
    Budget.Place second = acquire(lane, "second", 4);
    acquire(lane, "third", 4);
    assertThat(second.cancel()).isTrue();
    assertThat(first.cancel()).isTrue();
    assertThat(first.cancel()).isFalse();
    permits.release(8);
    assertThat(granted).containsExactly("third");
    lane.release(4);
    assertThat(List.of(permits.inUse(), lane.inUse(), (long) permits.waiting())).containsOnly(0L);
  }

  @Test
  void grantThatThrows_stopsNoOneBehindIt() {
    BudgetLane lane = lane("lane", 8);
    permits.tryAcquire(8);
    List<Throwable> told = new ArrayList<>();
    Thread.currentThread().setUncaughtExceptionHandler((thread, error) -> told.add(error));
    try {
      lane.acquire(4, () -> {
        throw new IllegalStateException("boom");
      }, refusal -> refused.add("boom"));
      acquire(lane, "second", 4);
      permits.release(8);
    } finally {
      Thread.currentThread().setUncaughtExceptionHandler(null);
    }
    assertThat(granted).containsExactly("second");
    assertThat(told).singleElement().asString().contains("boom");
  }

  @Test
  void queue_isBounded_andAWaiterMustFit() {
    BudgetLane lane = lane("lane", 4);
    permits.tryAcquire(8);
    for (int i = 0; i < 4; i++) {
      acquire(lane, "waiter", 1);
    }
    assertThatThrownBy(() -> acquire(lane, "fifth", 1)).isInstanceOf(BudgetExhaustedException.class);
    assertThatThrownBy(() -> acquire(lane("small", 4), "much", 5))
        .hasMessage("small: bytes must be <= share 4 (was 5)");
  }

  @Test
  void waiter_withoutAPlaceInTheBudget_isRefused_andTheLaneGoesOn() {
    Budget connection = new NodeBudget(permits, 4).out().part("send window", 4, 4, 1);
    permits.tryAcquire(8);
    for (int i = 0; i < permits.maxWaiters(); i++) { // of another user of the budget
      permits.acquire(1, () -> permits.release(1));
    }
    acquire(connection, "refused", 4);
    assertThat(refused).singleElement().asString().startsWith("refused: node: waiters must be <= 2");
    permits.release(8);
    acquire(connection, "granted", 4);
    assertThat(granted).containsExactly("granted");
    connection.release(4);
    assertThat(permits.inUse()).isZero();
  }

  @Test
  void budgetThatCloses_refusesAllWhoWait() {
    BudgetLane lane = lane("lane", 8);
    permits.tryAcquire(8);
    acquire(lane, "first", 4);
    acquire(lane, "second", 4);
    permits.close(() -> new IllegalStateException("closed"));
    assertThat(refused).containsExactly("first: closed", "second: closed");
    assertThat(lane.inUse()).isZero();
  }

  @Test
  void budget_withoutASliceEachWay_isRefused() {
    assertThatThrownBy(() -> new NodeBudget(new Permits("node", 7, 2), 4)).hasMessage(
        "budget must be >= 2 slices, one in and one out, of maxSliceBytes 4 (was 7)");
    assertThatThrownBy(() -> new NodeBudget(new Permits("node", 8, 1), 4)).hasMessage(
        "waiters of the budget must be >= 2, one each way (was 1)");
  }

  /// Random connections of one node, in and out, with random cancels: never more than the budget in flight, no
  /// direction keeps the other from its slice, and every wait ends.
  @Test
  void randomConnections_keepToTheBudget_andAllWaitsEnd() {
    for (int seed = 0; seed < 500; seed++) {
      new RandomNode(seed).run();
    }
  }

  /// Connections of a node under one seed.
  private static final class RandomNode {
    private static final int SLICE = 4;

    private final SplittableRandom random;
    private final Permits permits;
    private final List<Budget> lanes = new ArrayList<>();
    private final Deque<Runnable> held = new ArrayDeque<>();
    private int waiting;

    RandomNode(int seed) {
      random = new SplittableRandom(seed);
      permits = new Permits("node", random.nextInt(2 * SLICE, 12 * SLICE), 2);
      NodeBudget node = new NodeBudget(permits, SLICE);
      for (int i = 0; i < 3; i++) {
        BudgetLane incoming = node.in().part("here", node.in().share(), 64, 4);
        lanes.add(incoming.part("in", incoming.share(), 64, 1));
        lanes.add(node.out().part("here", node.out().share(), 64, 4)
            .part("out", random.nextInt(SLICE, 4 * SLICE), 64, 1));
      }
    }

    void run() {
      for (int step = 0; step < 300; step++) {
        switch (random.nextInt(3)) {
          case 0, 1 -> take(lanes.get(random.nextInt(lanes.size())), random.nextInt(1, SLICE + 1));
          default -> giveBack();
        }
        assertThat(permits.inUse()).isLessThanOrEqualTo(permits.capacity());
        assertThat(held.isEmpty() && waiting > 0).as("nothing is held, and someone waits").isFalse();
      }
      while (!held.isEmpty()) {
        giveBack();
      }
      assertThat(waiting).isZero();
      assertThat(permits.inUse()).isZero();
    }

    private void take(Budget lane, int bytes) {
      if (lane.tryAcquire(bytes)) {
        held.add(() -> lane.release(bytes));
        return;
      }
      waiting++;
      Budget.Place place = lane.acquire(bytes, () -> {
        waiting--;
        held.add(() -> lane.release(bytes));
      }, refusal -> {
        throw refusal;
      });
      if (random.nextInt(4) == 0 && place.cancel()) {
        waiting--;
      }
    }

    private void giveBack() {
      if (!held.isEmpty()) {
        (random.nextBoolean() ? held.removeFirst() : held.removeLast()).run();
      }
    }
  }
}
