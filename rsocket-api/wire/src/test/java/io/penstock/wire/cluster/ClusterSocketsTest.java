package io.penstock.wire.cluster;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.operator.LiveTimers;
import io.penstock.stack.HostTier;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.Eventually;
import io.penstock.tier.BlockTier;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.PutSource;
import io.penstock.tier.Receipt;
import io.penstock.tier.TierHolds.KeyFilter;
import io.penstock.tier.TierListener;
import io.penstock.wire.PenstockClient;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.cluster.tier.ClusterTier;
import io.penstock.wire.cluster.tier.Spread;
import io.penstock.wire.cluster.tier.UnreachableException;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import io.penstock.wire.protocol.WireFailure.RemoteTransientException;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.server.route.DisaggServices;
import io.penstock.wire.server.space.NodeSpaces;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpListener;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import io.rsocket.transport.ClientTransport;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// A client and the nodes of a cluster, over loopback sockets.
@Timeout(60)
final class ClusterSocketsTest {
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private final CacheSpace space = Blocks.smallSpace();
  private final Scheduler timers = LiveTimers.of(Schedulers.newSingle("timers", true));
  private final LoopResources loops = LoopResources.create("nodes", 1, true);
  private final SlabArena made = new SlabArena("made", space.layout(), 128, 128);
  private final List<Node> nodes = new ArrayList<>();
  private final List<TaskOrder> orders = new ArrayList<>();

  private final class Node implements ClusterTasks {
    final String name;
    final long generation;
    final HostTier tier = new HostTier(space, 64, StackOptions.defaults("dram"), TierListener.noop());
    final KvServer server;
    final AtomicInteger askedWhileLeaving = new AtomicInteger();
    volatile boolean leaving;
    boolean gone;

    Node(String name, long generation) {
      this.name = name;
      this.generation = generation;
      this.server = requireNonNull(KvServer.bind(TcpTransport.server(TcpServerOptions.on("127.0.0.1", 0), loops),
          NodeSpaces.of(List.of(tier)), null, DisaggServices.none().withCluster(new Known(this), this),
          KvServerOptions.builder().generation(generation).build(), new ByteBudget("node", 64 << 20, 64), timers,
          timers).block(PATIENCE));
    }

    String address() {
      return Endpoint.place((InetSocketAddress) ((TcpListener) server.listening()).address());
    }

    void put(List<BlockKey> keys) {
      try (BlockScope scope = new BlockScope()) {
        List<Block> blocks = keys.stream().map(key -> scope.adopt(Blocks.block(made, key))).toList();
        tier.put(keys, SliceShape.defaults(), PutSource.of(blocks, SliceShape.Order.LAYER_FIRST)).blockLast(PATIENCE);
      }
    }

    void die() {
      gone = true;
      server.close().block(PATIENCE);
    }

    @Override
    public ClusterTask start(TaskOrder order, KeyFilter which) {
      if (order.kind() == TaskOrder.Kind.REBALANCE) {
        throw new IllegalStateException("a node must run one task (runs one)");
      }
      orders.add(order);
      assertThat(which.test().test(Blocks.key(space, 1))).isEqualTo(order.pattern().isEmpty());
      return new ClusterTask("1", name, order, ClusterTask.State.RUNNING, 0, 0, 0, "");
    }

    @Override
    public List<ClusterTask> tasks() {
      return List
          .of(new ClusterTask("1", name, TaskOrder.of(TaskOrder.Kind.DRAIN), ClusterTask.State.DONE, 1, 2, 0, ""));
    }

    @Override
    public boolean cancel(String id) {
      return id.equals("1");
    }
  }

  /// Knows what the nodes have, and learns late that one is gone.
  private final class Known implements ClusterDirectory {
    private final Node node;

    Known(Node node) {
      this.node = node;
    }

    private boolean isLeaving() {
      if (node.leaving) {
        node.askedWhileLeaving.incrementAndGet();
      }
      return node.leaving;
    }

    @Override
    public String cluster() {
      return "kv";
    }

    @Override
    public List<Member> members() {
      return isLeaving() ? List.of() : told();
    }

    private List<Member> told() {
      return nodes.stream().map(node -> new Member(node.name, node.generation, List.of(node.address()), "",
          Member.State.UP, new Member.Figures(0, 1 << 20, 0))).toList();
    }

    @Override
    public Mono<Located> locate(List<BlockKey> keys) {
      return Mono.defer(() -> isLeaving() ? Mono.error(NotJoinedException::new) : located(keys));
    }

    private Mono<Located> located(List<BlockKey> keys) {
      return Mono.fromSupplier(() -> Located.of(told(), keys.stream().map(this::holders).toList()));
    }

    private List<Located.Holder> holders(BlockKey key) {
      List<Located.Holder> holders = new ArrayList<>();
      for (int i = 0; i < nodes.size(); i++) {
        if (requireNonNull(nodes.get(i).tier.contains(List.of(key)).block()).get(0)) {
          holders.add(new Located.Holder(i, 0));
        }
      }
      return holders;
    }
  }

  private Node add(String name) {
    Node node = new Node(name, 100 + nodes.size());
    nodes.add(node);
    return node;
  }

  private PenstockClient client(String... seeds) {
    return requireNonNull(PenstockClient.connectCluster(List.of(seeds), "", PenstockClient.Options.of(space))
        .block(PATIENCE));
  }

  private List<BlockKey> keys(int from, int to) {
    return Blocks.keys(space, from, to);
  }

  private static List<BlockKey> got(BlockTier tier, List<BlockKey> keys) {
    return requireNonNull(Flux.using(BlockScope::new, scope -> tier.get(keys, scope).map(block -> {
      Blocks.assertBytes(block);
      block.close();
      return block.key();
    }), BlockScope::close).collectList().block(PATIENCE));
  }

  @AfterEach
  void close() {
    nodes.stream().filter(node -> !node.gone).forEach(node -> node.server.close().block(PATIENCE));
    nodes.forEach(node -> node.tier.close().block(PATIENCE));
    loops.disposeLater(Duration.ZERO, PATIENCE).block(PATIENCE);
    timers.dispose();
    made.close();
  }

  @Test
  void aClient_readsAndWritesTheWholeCluster_throughAnyNode() {
    Node a = add("a");
    Node b = add("b");
    Node c = add("c");
    a.put(keys(0, 4));
    b.put(keys(4, 8));
    PenstockClient client = client("127.0.0.1:1", c.address());
    try {
      assertThat(client.tier().info().name()).isEqualTo("cluster kv");
      assertThat(client.tier().info().capacityBlocks()).isEqualTo(3L * (1 << 20) / space.layout().blockBytes());
      assertThat(got(client.tier(), keys(0, 9))).isEqualTo(keys(0, 8));
      try (BlockScope scope = new BlockScope()) {
        List<Block> blocks = keys(8, 10).stream().map(key -> scope.adopt(Blocks.block(made, key))).toList();
        assertThat(client.tier().put(keys(8, 10), SliceShape.defaults(),
            PutSource.of(blocks, SliceShape.Order.LAYER_FIRST)).collectList().block(PATIENCE)).hasSize(2);
      }
      assertThat(got(client.tier(), keys(0, 10))).isEqualTo(keys(0, 10));
      assertThat(requireNonNull(client.tier().stat().block(PATIENCE)).blocks()).isEqualTo(10);
    } finally {
      client.close().block(PATIENCE);
    }
  }

  @Test
  void copies_goToSeveralNodes_andTheReceiptNamesThem() {
    Node a = add("a");
    Node b = add("b");
    Node c = add("c");
    try (BlockScope scope = new BlockScope()) {
      List<Block> blocks = keys(0, 40).stream().map(key -> scope.adopt(Blocks.block(made, key))).toList();
      for (int copies = 2; copies <= 3; copies++) {
        List<BlockKey> keys = keys(20 * (copies - 2), 20 * (copies - 1));
        PenstockClient client = requireNonNull(PenstockClient.connectCluster(List.of(a.address()), "",
            PenstockClient.Options.of(space).withSpread(Spread.defaults().withCopies(copies))).block(PATIENCE));
        try {
          List<Receipt> receipts = requireNonNull(client.tier().put(keys, SliceShape.defaults(), PutSource.of(
              blocks.subList(20 * (copies - 2), 20 * (copies - 1)), SliceShape.Order.LAYER_FIRST)).collectList()
              .block(PATIENCE));
          assertThat(receipts).hasSize(20);
          for (Receipt receipt : receipts) {
            List<Node> holders = Stream.of(a, b, c)
                .filter(node -> requireNonNull(node.tier.contains(List.of(receipt.key())).block()).get(0)).toList();
            assertThat(holders).hasSize(copies);
            assertThat(receipt.tier().split(" \\+ ")).hasSize(copies)
                .allMatch(name -> holders.stream().anyMatch(node -> name.startsWith(node.name + " ")));
          }
          assertThat(((ClusterTier) client.tier()).missingCopies()).isZero();
          assertThat(got(client.tier(), keys)).isEqualTo(keys);
        } finally {
          client.close().block(PATIENCE);
        }
      }
    }
  }

  @Test
  void aClient_goesOnWithOtherNodes_whenItsOwnDies_andNeverTakesAnotherStartForTheOneThatWasTold() {
    Node a = add("a");
    Node b = add("b");
    a.put(keys(0, 4));
    b.put(keys(0, 4));
    PenstockClient client = client(a.address(), b.address());
    try {
      assertThat(got(client.tier(), keys(0, 4))).isEqualTo(keys(0, 4));
      a.die();
      assertThat(got(client.tier(), keys(0, 4))).isEqualTo(keys(0, 4));
      b.die();
      assertThatThrownBy(() -> client.tier().match(keys(0, 4)).block(PATIENCE))
          .isInstanceOf(UnreachableException.class)
          .hasMessageMatching("a node of the cluster must answer \\(none did of \\[127.0.0.1:\\d+, 127.0.0.1:\\d+],"
              + " and no member\\): no node is listening at 127.0.0.1:\\d+");
    } finally {
      client.close().block(PATIENCE);
    }
  }

  @Test
  void aNodeThatHasLeftItsCluster_andStillListens_isPassedOver() {
    Node a = add("a");
    Node b = add("b");
    b.put(keys(0, 4));
    PenstockClient before = client(a.address(), b.address());
    a.leaving = true;
    PenstockClient after = client(a.address(), b.address());
    try {
      for (PenstockClient client : List.of(before, after)) {
        assertThat(got(client.tier(), keys(0, 4))).isEqualTo(keys(0, 4));
      }
      assertThat(after.tier().info().capacityBlocks()).isEqualTo(2L * (1 << 20) / space.layout().blockBytes());
      b.leaving = true;
      assertThatThrownBy(() -> client(a.address(), b.address())).isInstanceOf(UnreachableException.class);
    } finally {
      before.close().block(PATIENCE);
      after.close().block(PATIENCE);
    }
  }

  @Test
  void aClient_goesOnWithOtherNodes_whileItsOwnLeaves_andWhenThatIsGone() {
    Node a = add("a");
    Node b = add("b");
    b.put(keys(0, 4));
    PenstockClient client = client(a.address());
    try {
      assertThat(got(client.tier(), keys(0, 4))).isEqualTo(keys(0, 4));
      assertThat(blocks(client)).isEqualTo(4);
      nodes.remove(a); // as the others know it
      a.leaving = true;
      List<Long> blocks = new ArrayList<>();
      Eventually.holds("the members are asked for again", () -> {
        blocks.add(blocks(client));
        return a.askedWhileLeaving.get() > 0;
      });
      assertThat(blocks).containsOnly(4L);
      assertThat(got(client.tier(), keys(0, 4))).isEqualTo(keys(0, 4));
      a.die();
      assertThat(got(client.tier(), keys(0, 4))).isEqualTo(keys(0, 4));
      assertThat(blocks(client)).isEqualTo(4);
    } finally {
      client.close().block(PATIENCE);
      a.tier.close().block(PATIENCE);
    }
  }

  private static long blocks(PenstockClient client) {
    return requireNonNull(client.tier().stat().block(PATIENCE)).blocks();
  }

  @Test
  void aNodeThatHasNotJoined_saysThatThisMayPass() {
    Node a = add("a");
    a.leaving = true;
    assertThatThrownBy(() -> KvClient.membersOf(TcpTransport.client(
        TcpClientOptions.to(Endpoint.parse(a.address()).address()), loops), KvClientOptions.defaults())
        .block(PATIENCE)).isInstanceOf(RemoteTransientException.class)
        .hasMessage("node must be in its cluster to answer for it (has not joined, or is leaving)");
  }

  @Test
  void tasks_areStartedShownAndEnded_overTheWire() {
    Node a = add("a");
    ClientTransport transport = TcpTransport.client(TcpClientOptions.to(Endpoint.parse(a.address()).address()), loops);
    KvClientOptions options = KvClientOptions.defaults();
    TaskOrder order = new TaskOrder(TaskOrder.Kind.MOVE, "^zz$", "b", 7);
    assertThat(requireNonNull(KvClient.startAt(transport, options, order).block(PATIENCE)).order()).isEqualTo(order);
    assertThat(orders).containsExactly(order);
    assertThat(requireNonNull(KvClient.tasksOf(transport, options).block(PATIENCE))).isEqualTo(a.tasks());
    assertThat(KvClient.cancelAt(transport, options, "1").block(PATIENCE)).isTrue();
    assertThat(KvClient.cancelAt(transport, options, "2").block(PATIENCE)).isFalse();
    assertThat(requireNonNull(KvClient.membersOf(transport, options).block(PATIENCE)).cluster()).isEqualTo("kv");
    assertThatThrownBy(() -> KvClient.startAt(transport, options, TaskOrder.of(TaskOrder.Kind.REBALANCE))
        .block(PATIENCE)).isInstanceOf(RemotePermanentException.class)
        .hasMessageContaining("order must be one that the node can do now");
    assertThatThrownBy(() -> KvClient.startAt(transport, options, new TaskOrder(TaskOrder.Kind.REMOVE, "(", "", 0))
        .block(PATIENCE)).isInstanceOf(RemotePermanentException.class).hasMessageContaining("pattern must be");
  }

  @Test
  void aNodeInNoCluster_saysSo() {
    HostTier tier = new HostTier(space, 4, StackOptions.defaults("dram"), TierListener.noop());
    KvServer alone = requireNonNull(KvServer.bind(TcpTransport.server(TcpServerOptions.on("127.0.0.1", 0), loops),
        NodeSpaces.of(List.of(tier)), null, DisaggServices.none(), KvServerOptions.defaults(),
        new ByteBudget("node", 64 << 20, 4), timers, timers).block(PATIENCE));
    String place = Endpoint.place((InetSocketAddress) ((TcpListener) alone.listening()).address());
    assertThatThrownBy(() -> KvClient.membersOf(TcpTransport.client(
        TcpClientOptions.to(Endpoint.parse(place).address()), loops), KvClientOptions.defaults()).block(PATIENCE))
        .isInstanceOf(RemotePermanentException.class)
        .hasMessageContaining("route must be one that is served outside a cluster");
    alone.close().block(PATIENCE);
    tier.close().block(PATIENCE);
  }
}
