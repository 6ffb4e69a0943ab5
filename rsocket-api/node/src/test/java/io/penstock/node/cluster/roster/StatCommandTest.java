package io.penstock.node.cluster.roster;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.cli.Console;
import io.penstock.node.link.ClusterLink;
import io.penstock.node.link.NodeLink;
import io.penstock.tier.BlockTier;
import io.penstock.wire.client.ServerStat;
import io.penstock.wire.cluster.ClusterTask;
import io.penstock.wire.cluster.ClusterView;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.TaskOrder;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import reactor.core.publisher.Mono;

final class StatCommandTest {
  private static final Member UP = new Member("kv-0.kv.default.svc:7733", 1L << 52, List.of("10.0.0.1:7733",
      "ws://10.0.0.1:7734/penstock"), "zone1/rack7/host3", Member.State.UP,
      new Member.Figures(3L << 30, 4L << 30, 5 << 20));
  private static final Member DRAINING = new Member("kv-1", 7, List.of("10.0.0.2:7733"), "", Member.State.DRAINING,
      new Member.Figures(1 << 30, Long.MAX_VALUE, 0));

  /// A link to a node that knows `view` alone.
  private record Known(ClusterView view) implements NodeLink, ClusterLink {
    @Override
    public ClusterLink cluster() {
      return this;
    }

    @Override
    public Mono<ClusterView> members() {
      return Mono.just(view);
    }

    @Override
    public Mono<List<ClusterTask>> tasks() {
      throw new AssertionError("no task is asked for");
    }

    @Override
    public Mono<ClusterTask> start(TaskOrder order) {
      throw new AssertionError("no task is asked for");
    }

    @Override
    public Mono<Boolean> cancel(String id) {
      throw new AssertionError("no task is asked for");
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

  private static String run(List<Member> members, String... arguments) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    Console console = new Console(InputStream.nullInputStream(), new PrintStream(out, true, StandardCharsets.UTF_8),
        System.err, false, Map.of());
    StatCommand command = new StatCommand(console,
        (address, config, patience) -> new Known(new ClusterView("kv", members)));
    assertThat(new CommandLine(command).execute(arguments)).isZero();
    return out.toString(StandardCharsets.UTF_8);
  }

  @Test
  void table_hasARowForEachMember_andFitsEightyColumns() {
    String text = run(List.of(UP, DRAINING));

    assertThat(text).isEqualTo("""
        cluster kv: 2 members, 1 draining; 4.00 GiB of unbounded, 5.00 MiB in flight
        STATE        BYTES  CAPACITY   IN FLIGHT  MEMBER
        up        3.00 GiB  4.00 GiB    5.00 MiB  kv-0.kv.default.svc:7733 in
                                                  zone1/rack7/host3, at 10.0.0.1:7733,
                                                  ws://10.0.0.1:7734/penstock,
                                                  generation 4503599627370496
        draining  1.00 GiB  unbounded        0 B  kv-1, at 10.0.0.2:7733, generation 7
        """);
    assertThat(text.lines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(80));
  }

  @Test
  void json_hasEveryFigure() {
    assertThat(run(List.of(UP, DRAINING), "--json")).isEqualTo("""
        {"cluster":"kv","members":[{"name":"kv-0.kv.default.svc:7733","place":"zone1/rack7/host3","state":"up",\
        "bytes":3221225472,"capacityBytes":4294967296,"inFlightBytes":5242880,"generation":4503599627370496,\
        "endpoints":["10.0.0.1:7733","ws://10.0.0.1:7734/penstock"]},{"name":"kv-1","place":"","state":"draining",\
        "bytes":1073741824,"capacityBytes":null,"inFlightBytes":0,"generation":7,"endpoints":["10.0.0.2:7733"]}],\
        "totals":{"members":2,"draining":1,"bytes":4294967296,"capacityBytes":null,"inFlightBytes":5242880},"quotas":[]}
        """);
  }

  @Test
  void nodeThatHasNotJoinedYet_knowsNoMember() {
    assertThat(run(List.of())).isEqualTo("cluster kv: 0 members; 0 B of 0 B, 0 B in flight\n");
  }
}
