package io.penstock.node.cluster.roster;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.UnavailableException;
import io.penstock.node.link.ClusterLink;
import io.penstock.node.link.Dialer;
import io.penstock.node.link.NodeLink;
import io.penstock.tier.BlockTier;
import io.penstock.wire.client.ServerStat;
import io.penstock.wire.cluster.ClusterTask;
import io.penstock.wire.cluster.ClusterTask.State;
import io.penstock.wire.cluster.ClusterView;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.TaskOrder;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import reactor.core.publisher.Mono;

/// A task at three members, of which some refuse it, or go away.
final class TaskCommandTest {
  private static final List<Member> ALL = List.of(member("a", 1), member("b", 2), member("c", 3));

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final Console console = new Console(InputStream.nullInputStream(),
      new PrintStream(out, true, StandardCharsets.UTF_8), System.err, false, Map.of());
  private final Map<String, ClusterTask> running = new HashMap<>();

  private static Member member(String name, int port) {
    return new Member(name, 1, List.of("quic://127.0.0.1:9", "127.0.0.1:" + port), "", Member.State.UP,
        Member.Figures.NONE);
  }

  @Command
  private static final class Rebalance extends AddressedTask {
    Rebalance(Console console, Dialer dialer) {
      super(console, dialer);
    }

    @Override
    TaskOrder order(long bytesPerSecond) {
      return TaskOrder.of(TaskOrder.Kind.REBALANCE);
    }

    @Override
    List<Member> concerned(Members members) {
      return members.view().members();
    }
  }

  /// @param refusing members that start no task
  /// @param away members that do not answer once they have started it
  private final class Node implements NodeLink, ClusterLink {
    private final Member member;
    private final Set<String> refusing;
    private final Set<String> away;

    Node(Member member, Set<String> refusing, Set<String> away) {
      this.member = member;
      this.refusing = refusing;
      this.away = away;
    }

    @Override
    public ClusterLink cluster() {
      return this;
    }

    @Override
    public Mono<ClusterView> members() {
      return Mono.just(new ClusterView("kv", ALL));
    }

    @Override
    public Mono<List<ClusterTask>> tasks() {
      ClusterTask was = running.get(member.name());
      return away.contains(member.name()) || was == null
          ? Mono.error(new UnavailableException("the node must answer (was silent)"))
          : Mono.just(List.of(new ClusterTask(was.id(), was.node(), was.order(), State.DONE, 7, 70, 0, "")));
    }

    @Override
    public Mono<ClusterTask> start(TaskOrder order) {
      if (refusing.contains(member.name())) {
        return Mono.error(new RemotePermanentException(0x1001, "order must be one that the node can do now"));
      }
      ClusterTask task = new ClusterTask(member.name() + "/1", member.name(), order, State.RUNNING, 0, 0, 9, "");
      running.put(member.name(), task);
      return Mono.just(task);
    }

    @Override
    public Mono<Boolean> cancel(String id) {
      throw new AssertionError("nothing is cancelled");
    }

    @Override
    public BlockTier tier() {
      throw new AssertionError("no block is asked for");
    }

    @Override
    public Mono<ServerStat> stat() {
      throw new AssertionError("the node itself is not asked for");
    }

    @Override
    public void close() {}
  }

  private int run(Set<String> refusing, Set<String> away, String... arguments) {
    Rebalance command = new Rebalance(console, (address, config, patience) -> new Node(ALL.stream()
        .filter(member -> address.place().toString().endsWith(":" + member.endpoints().get(1).substring(10)))
        .findFirst().orElseThrow(), refusing, away));
    CommandLine line = new CommandLine(command);
    line.setExecutionExceptionHandler((failure, parsed, result) -> {
      out.writeBytes(String.valueOf(failure.getMessage()).getBytes(StandardCharsets.UTF_8));
      return 9;
    });
    String[] all = new String[arguments.length + 1];
    System.arraycopy(arguments, 0, all, 0, arguments.length);
    all[arguments.length] = "127.0.0.1:1";
    return line.execute(all);
  }

  private String shown() {
    return out.toString(StandardCharsets.UTF_8);
  }

  @Test
  void aMemberThatRefuses_isShown_andTheTasksOfOthersToo() {
    assertThat(run(Set.of("b"), Set.of(), "--no-wait")).isEqualTo(1);
    assertThat(running).containsOnlyKeys("a", "c");
    assertThat(shown()).contains("a/1", "c/1", "b: order must be one that the node can");
  }

  @Test
  void aMemberThatGoesAway_endsTheWaitForItsTaskAlone() {
    assertThat(run(Set.of(), Set.of("a"), "--json")).isEqualTo(1);
    assertThat(shown()).contains("\"id\":\"c/1\",\"node\":\"c\",\"kind\":\"rebalance\"", "\"state\":\"done\"",
        "the member does not answer, and the task may go on: the node must answer (was silent)");
  }

  @Test
  void aTaskThatNoMemberStarts_isAFailureOfTheCommand() {
    assertThat(run(Set.of("a", "b", "c"), Set.of())).isEqualTo(9);
    assertThat(shown()).isEqualTo("order must be one that the node can do now");
  }
}
