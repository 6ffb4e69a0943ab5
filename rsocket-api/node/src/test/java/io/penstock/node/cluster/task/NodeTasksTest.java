package io.penstock.node.cluster.task;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockKey;
import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionUse;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.Eventually;
import io.penstock.tier.TierHolds.KeyFilter;
import io.penstock.tier.TierHolds.Pin;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.wire.cluster.ClusterTask;
import io.penstock.wire.cluster.ClusterTask.State;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.TaskOrder;
import io.penstock.wire.cluster.TaskOrder.Kind;
import java.time.Duration;
import java.util.List;
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
