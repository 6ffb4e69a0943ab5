package io.penstock.node.cluster.task;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockKey;
import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionUse;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.Eventually;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierHolds.KeyFilter;
import io.penstock.tier.TierHolds.KeyOutcome;
import io.penstock.tier.TierHolds.LeaseTerms;
import io.penstock.tier.TierHolds.Pin;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.wire.cluster.ClusterTask;
import io.penstock.wire.cluster.ClusterTask.State;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.TaskOrder;
import io.penstock.wire.cluster.TaskOrder.Kind;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class NodeTasksTest {
  private static final SessionUse TALK = new SessionUse(SessionId.of("talk"), 6, Duration.ofMinutes(30));

  private final NodesOnLoopback nodes = new NodesOnLoopback();

  @AfterEach
  void close() {
    nodes.close();
  }

  private List<BlockKey> keys(int from, int to) {
    return Blocks.keys(nodes.space, from, to);
  }

  private static ClusterTask ended(NodesOnLoopback.Node node, ClusterTask task) {
    Eventually.holds("the end of " + task, () -> now(node, task).state() != State.RUNNING);
    return now(node, task);
  }

  private static ClusterTask now(NodesOnLoopback.Node node, ClusterTask task) {
    return node.tasks.tasks().stream().filter(each -> each.id().equals(task.id())).findFirst().orElseThrow();
  }

  private static ClusterTask run(NodesOnLoopback.Node node, TaskOrder order) {
    return ended(node, node.tasks.start(order, KeyFilter.all()));
  }

  @Test
  void drain_givesAllBlocksToOthers_andSendsNoneThatTheyHave() {
    NodesOnLoopback.Node a = nodes.add("a", 512);
    NodesOnLoopback.Node b = nodes.add("b", 512);
    NodesOnLoopback.Node c = nodes.add("c", 512);
    a.put(keys(0, 200));
    b.put(keys(0, 50));

    ClusterTask task = run(a, TaskOrder.of(Kind.DRAIN));

    assertThat(task.state()).as(task.problem()).isEqualTo(State.DONE);
    assertThat(task.blocks()).isEqualTo(200);
    assertThat(task.bytes()).isEqualTo(150L * nodes.space.layout().blockBytes());
    assertThat(a.blocks()).isZero();
    assertThat(a.state).isEqualTo(Member.State.DRAINING);
    assertThat(b.blocks() + c.blocks()).isEqualTo(200);
    assertThat(nodes.got(b.cluster, keys(0, 200))).isEqualTo(keys(0, 200));

    assertThat(run(a, TaskOrder.of(Kind.RESUME)).state()).isEqualTo(State.DONE);
    assertThat(a.state).isEqualTo(Member.State.UP);
  }

  @Test
  void drain_ofTheOnlyNode_failsAndSaysWhatIsLeft() {
    NodesOnLoopback.Node a = nodes.add("a", 64);
    a.put(keys(0, 10));
    ClusterTask task = run(a, TaskOrder.of(Kind.DRAIN));
    assertThat(task.state()).isEqualTo(State.FAILED);
    assertThat(task.left()).isEqualTo(10);
    assertThat(task.problem()).startsWith("10 blocks are left: another member must take the blocks");
    assertThat(a.blocks()).isEqualTo(10);
  }

  @Test
  void rebalance_levelsANodeThatIsFullerThanTheAverage() {
    NodesOnLoopback.Node a = nodes.add("a", 400);
    NodesOnLoopback.Node b = nodes.add("b", 400);
    a.put(keys(0, 300));
    b.put(keys(300, 320));
    ClusterTask task = run(a, TaskOrder.of(Kind.REBALANCE));
    assertThat(task.state()).as(task.problem()).isEqualTo(State.DONE);
    assertThat(a.blocks()).isBetween(155L, 165L);
    assertThat(b.blocks()).isBetween(155L, 165L);
    assertThat(nodes.got(a.cluster, keys(0, 320))).hasSize(320);
    assertThat(run(a, TaskOrder.of(Kind.REBALANCE)).blocks()).isZero();
  }

  @Test
  void copy_andMove_andRemove_takeTheBlocksOfThePattern() {
    NodesOnLoopback.Node a = nodes.add("a", 64);
    NodesOnLoopback.Node b = nodes.add("b", 64);
    NodesOnLoopback.Node c = nodes.add("c", 64);
    a.put(keys(0, 20));
    KeyFilter first = new KeyFilter("some", keys(0, 5)::contains);
    KeyFilter second = new KeyFilter("others", keys(5, 9)::contains);
    KeyFilter third = new KeyFilter("rest", keys(9, 12)::contains);

    ended(a, a.tasks.start(new TaskOrder(Kind.COPY, "some", "b", 0), first));
    assertThat(b.has(keys(0, 20))).isEqualTo(keys(0, 5));
    assertThat(a.blocks()).isEqualTo(20);

    ended(a, a.tasks.start(new TaskOrder(Kind.MOVE, "others", "c", 0), second));
    assertThat(c.has(keys(0, 20))).isEqualTo(keys(5, 9));
    assertThat(a.blocks()).isEqualTo(16);

    assertThat(ended(a, a.tasks.start(new TaskOrder(Kind.REMOVE, "rest", "", 0), third)).blocks()).isEqualTo(3);
    assertThat(a.blocks()).isEqualTo(13);
  }

  @Test
  void blocksThatMoveOrAreCopied_keepTheirPinsAndSessions() {
    NodesOnLoopback.Node a = nodes.add("a", 64);
    NodesOnLoopback.Node b = nodes.add("b", 64);
    PutTerms ofSession = PutTerms.plain().withSession(TALK);
    a.put(keys(0, 4), PutTerms.plain().withPin(Pin.hard()));
    a.put(keys(4, 8), ofSession);
    a.put(keys(8, 10), ofSession.withPin(Pin.soft(Duration.ofMinutes(20))));
    a.put(keys(10, 12));

    b.put(keys(20, 22), ofSession.withGroup("pair"));

    ended(b, b.tasks.start(new TaskOrder(Kind.COPY, "pair", "a", 0), new KeyFilter("pair", keys(20, 22)::contains)));
    assertThat(a.terms(keys(20, 22))).containsOnly(ofSession.withGroup("pair"));
    a.server.tier().remove(keys(20, 22)).block(NodesOnLoopback.PATIENCE);
    ended(a, a.tasks.start(new TaskOrder(Kind.COPY, "some", "b", 0), new KeyFilter("some", keys(6, 9)::contains)));
    assertThat(b.terms(keys(6, 8))).containsOnly(ofSession);
    ClusterTask drained = run(a, TaskOrder.of(Kind.DRAIN));

    assertThat(drained.state()).as(drained.problem()).isEqualTo(State.DONE);
    assertThat(b.terms(keys(0, 4))).containsOnly(PutTerms.plain().withPin(Pin.hard()));
    assertThat(b.terms(keys(4, 8))).containsOnly(ofSession);
    assertThat(b.terms(keys(8, 10))).allSatisfy(terms -> {
      assertThat(requireNonNull(terms.pin()).kind()).isEqualTo(Pin.Kind.SOFT);
      assertThat(terms.pin().life()).isBetween(Duration.ofMinutes(19), Duration.ofMinutes(20));
      assertThat(terms.session()).isEqualTo(TALK);
    });
    assertThat(b.terms(keys(10, 12))).containsOnly(PutTerms.plain());
  }

  @Test
  void drain_pinsTheCopyThatAnotherMemberHasAlready_orGivesUpNothing() {
    NodesOnLoopback.Node a = nodes.add("a", 64);
    NodesOnLoopback.Node b = nodes.add("b", 8);
    a.put(keys(0, 12), PutTerms.plain().withPin(Pin.hard()));
    b.put(keys(0, 6));

    ClusterTask task = run(a, TaskOrder.of(Kind.DRAIN));
    assertThat(task.state()).as("b pins no more than half of its blocks").isEqualTo(State.FAILED);
    assertThat(task.problem()).contains("pinned blocks must be <= 4");
    nodes.add("c", 64);
    assertThat(run(a, TaskOrder.of(Kind.DRAIN)).state()).isEqualTo(State.DONE);
    assertThat(a.blocks()).isZero();
    for (BlockKey key : keys(0, 12)) {
      assertThat(nodes.all()).as("a pin of " + key).anyMatch(node -> node.terms(List.of(key)).getFirst().pins());
    }
  }

  @Test
  void twoNodesThatDrainAtOnce_loseNoBlockThatBothHave() {
    NodesOnLoopback.Node a = nodes.add("a", 1024);
    NodesOnLoopback.Node b = nodes.add("b", 1024);
    NodesOnLoopback.Node c = nodes.add("c", 2048);
    for (int round = 0; round < 3; round++) {
      List<BlockKey> keys = keys(1000 * round, 1000 * round + 200);
      a.put(keys);
      b.put(keys);
      ClusterTask ofA = a.tasks.start(TaskOrder.of(Kind.DRAIN), KeyFilter.all());
      ClusterTask ofB = b.tasks.start(TaskOrder.of(Kind.DRAIN), KeyFilter.all());
      assertThat(ended(a, ofA).state()).as(now(a, ofA).problem()).isEqualTo(State.DONE);
      assertThat(ended(b, ofB).state()).as(now(b, ofB).problem()).isEqualTo(State.DONE);
      assertThat(c.has(keys)).as("round " + round).isEqualTo(keys);
      assertThat(a.blocks() + b.blocks()).isZero();
      run(a, TaskOrder.of(Kind.RESUME));
      run(b, TaskOrder.of(Kind.RESUME));
    }
  }

  @Test
  void twoNodesThatMoveTheSameBlocksToEachOther_loseNone() {
    NodesOnLoopback.Node a = nodes.add("a", 1024);
    NodesOnLoopback.Node b = nodes.add("b", 1024);
    for (int round = 0; round < 3; round++) {
      List<BlockKey> keys = keys(1000 * round, 1000 * round + 150);
      a.put(keys);
      b.put(keys);
      ClusterTask ofA = a.tasks.start(new TaskOrder(Kind.MOVE, "", "b", 0), KeyFilter.all());
      ClusterTask ofB = b.tasks.start(new TaskOrder(Kind.MOVE, "", "a", 0), KeyFilter.all());
      ended(a, ofA);
      ended(b, ofB);
      Set<BlockKey> left = new HashSet<>(a.has(keys));
      left.addAll(b.has(keys));
      assertThat(left).as("round " + round).containsExactlyInAnyOrderElementsOf(keys);
    }
  }

  @Test
  void aBlockThatAReaderHoldsAtTheOther_isGivenUp_andOneThatIsHeldHereStays() {
    NodesOnLoopback.Node a = nodes.add("a", 64);
    NodesOnLoopback.Node b = nodes.add("b", 64);
    a.put(keys(0, 4));
    b.put(keys(0, 4));
    HandOver over = new HandOver(a.server.tier(), "a", nodes.timers());
    try (TierHolds reader = a.server.tier().holds("reader")) {
      reader.lease(keys(2, 3), LeaseTerms.defaults().withLife(Duration.ofMinutes(1))).block(NodesOnLoopback.PATIENCE);
      HandOver.Outcome outcome = requireNonNull(
          over.to("b", b.server.tier(), keys(0, 6)).block(NodesOnLoopback.PATIENCE));
      assertThat(outcome.there()).containsExactlyInAnyOrderElementsOf(keys(0, 4));
      assertThat(outcome.removed()).containsExactlyInAnyOrder(key(0), key(1), key(3));
    }
    assertThat(b.server.tier().holds("after").remove(keys(0, 4), false).block(NodesOnLoopback.PATIENCE))
        .as("no lease is left").containsOnly(KeyOutcome.OK);
  }

  private BlockKey key(int number) {
    return Blocks.key(nodes.space, number);
  }

  @Test
  void anOrderToNoOtherMember_isRefused() {
    NodesOnLoopback.Node a = nodes.add("a", 64);
    nodes.add("b", 64);
    for (Kind kind : List.of(Kind.COPY, Kind.MOVE)) {
      for (String to : List.of("nosuch", "a")) {
        assertThatThrownBy(() -> a.tasks.start(new TaskOrder(kind, "", to, 0), KeyFilter.all()))
            .isInstanceOf(IllegalStateException.class)
            .hasMessage("to must be another member, one of [b] (was " + to + ")");
      }
    }
    assertThat(a.tasks.tasks()).isEmpty();
  }

  @Test
  void aTaskThatCouldNotDoAll_hasFailed() {
    NodesOnLoopback.Node a = nodes.add("a", 64);
    NodesOnLoopback.Node b = nodes.add("b", 64);
    a.put(keys(0, 10));
    b.state = Member.State.DRAINING;
    for (Kind kind : List.of(Kind.COPY, Kind.MOVE)) {
      ClusterTask task = run(a, new TaskOrder(kind, "", "b", 0));
      assertThat(task.state()).isEqualTo(State.FAILED);
      assertThat(task.problem()).startsWith("another member must take the blocks");
    }
    assertThat(a.blocks()).isEqualTo(10);
  }

  @Test
  void aNodeWithoutASpace_isToldToDrainAndToResume() {
    AtomicReference<Member.State> told = new AtomicReference<>();
    NodeTasks tasks = tasks(List::of, told);
    tasks.start(TaskOrder.of(Kind.DRAIN), KeyFilter.all());
    assertThat(told).hasValue(Member.State.DRAINING);
    Eventually.holds("the end", () -> tasks.tasks().getFirst().state() == State.DONE);
    tasks.start(TaskOrder.of(Kind.RESUME), KeyFilter.all());
    assertThat(told).hasValue(Member.State.UP);
  }

  @Test
  void aTaskWhoseSpacesCannotBeTold_hasFailed_andShutsNoOtherOut() {
    AtomicReference<Member.State> told = new AtomicReference<>();
    NodeTasks tasks = tasks(() -> {
      throw new IllegalStateException("no memory");
    }, told);
    tasks.start(TaskOrder.of(Kind.DRAIN), KeyFilter.all());
    Eventually.holds("the end", () -> tasks.tasks().getFirst().state() == State.FAILED);
    assertThat(tasks.tasks().getFirst().problem()).contains("no memory");
    assertThat(tasks.start(TaskOrder.of(Kind.DRAIN), KeyFilter.all()).id()).isEqualTo("n/2");
  }

  @Test
  void aDrainThatIsCancelledAtOnce_leavesTheNodeUp() {
    for (int round = 0; round < 50; round++) {
      AtomicReference<Member.State> told = new AtomicReference<>();
      NodeTasks tasks = tasks(List::of, told);
      ClusterTask task = tasks.start(TaskOrder.of(Kind.DRAIN), KeyFilter.all());
      if (tasks.cancel(task.id())) {
        assertThat(told).hasValue(Member.State.UP);
      } else {
        assertThat(told).hasValue(Member.State.DRAINING);
      }
    }
  }

  private NodeTasks tasks(Supplier<List<OwnBlocks>> spaces, AtomicReference<Member.State> told) {
    return new NodeTasks(new NodeTasks.Terms("n", member -> true, List::of, 1L << 30), spaces, told::set,
        nodes.timers(), nodes.work());
  }

  @Test
  void aTask_keepsToItsRate_canBeCancelled_andExcludesOthersOfItsKind() {
    NodesOnLoopback.Node a = nodes.add("a", 512);
    nodes.add("b", 512);
    a.put(keys(0, 300));
    ClusterTask slow = a.tasks.start(new TaskOrder(Kind.DRAIN, "", "", 64), KeyFilter.all());
    Eventually.holds("the drain begins", () -> a.state == Member.State.DRAINING);
    assertThatThrownBy(() -> a.tasks.start(TaskOrder.of(Kind.REBALANCE), KeyFilter.all()))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("a node must run one task that drains or rebalances it (runs one)");
    assertThat(now(a, slow).state()).isEqualTo(State.RUNNING);
    assertThat(a.tasks.cancel(slow.id())).isTrue();
    assertThat(a.tasks.cancel(slow.id())).isFalse();
    assertThat(now(a, slow).state()).isEqualTo(State.CANCELLED);
    assertThat(a.state).isEqualTo(Member.State.UP);
    assertThat(a.blocks()).isGreaterThan(200);
  }
}
