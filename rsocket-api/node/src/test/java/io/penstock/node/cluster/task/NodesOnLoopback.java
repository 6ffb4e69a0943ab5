package io.penstock.node.cluster.task;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.EvictionPolicy;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.operator.LiveTimers;
import io.penstock.testkit.Blocks;
import io.penstock.tier.BlockTier;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.PutSource;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.wire.PenstockNode;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.cluster.ClusterDirectory;
import io.penstock.wire.cluster.Located;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.tier.ClusterTier;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// Nodes over loopback sockets, each with tasks, and a directory that tells what they have.
final class NodesOnLoopback implements AutoCloseable {
  static final Duration PATIENCE = Duration.ofSeconds(20);
  final CacheSpace space = Blocks.smallSpace();
  private final Scheduler timers = LiveTimers.of(Schedulers.newSingle("timers", true));
  private final Scheduler work = Schedulers.newSingle("work", true);
  private final LoopResources loops = LoopResources.create("nodes", 1, true);
  private final SlabArena arena = new SlabArena("clients", space.layout(), 512, 512);
  private final ByteBudget budget = new ByteBudget("clients", 64 << 20, 64);
  private final List<Node> nodes = new ArrayList<>();

  final class Node {
    final String name;
    final long generation;
    final PenstockNode server;
    final ClusterTier cluster;
    final NodeTasks tasks;
    volatile Member.State state = Member.State.UP;

    Node(String name, long generation, long blocks) {
      this.name = name;
      this.generation = generation;
      this.server = requireNonNull(PenstockNode.start(PenstockNode.Options.of(space, blocks)
          .withPolicy(EvictionPolicy.SESSIONS)
          .withServer(KvServerOptions.builder().generation(generation).build())).block(PATIENCE));
      this.cluster = ClusterTier.within(new Known(), member -> member.name().equals(name), server.tier(),
          NodesOnLoopback.this::connect, "", timers, work, new SplittableRandom(generation));
      this.tasks = new NodeTasks(new NodeTasks.Terms(name, member -> member.name().equals(name),
          () -> nodes.stream().map(Node::member).toList(), 1L << 40),
          () -> List.of(new OwnBlocks(server.tier(), cluster)), told -> state = told, timers, work);
    }

    Member member() {
      long blockBytes = space.layout().blockBytes();
      return new Member(name, generation, List.of(server.address()), "", state,
          new Member.Figures(blocks() * blockBytes, server.tier().info().capacityBlocks() * blockBytes, 0));
    }

    long blocks() {
      return requireNonNull(server.tier().stat().block(PATIENCE)).blocks();
    }

    void put(List<BlockKey> keys) {
      put(keys, PutTerms.plain());
    }

    void put(List<BlockKey> keys, PutTerms terms) {
      try (BlockScope scope = new BlockScope()) {
        List<Block> made = keys.stream().map(key -> scope.adopt(Blocks.block(arena, key))).toList();
        server.tier().put(keys, terms, SliceShape.defaults(), PutSource.of(made, SliceShape.Order.LAYER_FIRST))
            .blockLast(PATIENCE);
      }
    }

    List<PutTerms> terms(List<BlockKey> keys) {
      return requireNonNull(server.tier().terms(keys).block(PATIENCE));
    }

    List<BlockKey> has(List<BlockKey> keys) {
      BitSet there = requireNonNull(server.tier().contains(keys).block(PATIENCE)).bits();
      return there.stream().mapToObj(keys::get).toList();
    }
  }

  private final class Known implements ClusterDirectory {
    @Override
    public String cluster() {
      return "test";
    }

    @Override
    public List<Member> members() {
      return nodes.stream().map(Node::member).toList();
    }

    @Override
    public Mono<Located> locate(List<BlockKey> keys) {
      return Mono.fromSupplier(() -> {
        List<List<Located.Holder>> holders = new ArrayList<>();
        for (BlockKey key : keys) {
          List<Located.Holder> of = new ArrayList<>();
          for (int i = 0; i < nodes.size(); i++) {
            if (!nodes.get(i).has(List.of(key)).isEmpty()) {
              of.add(new Located.Holder(i, 0));
            }
          }
          holders.add(of);
        }
        return Located.of(members(), holders);
      });
    }
  }

  Node add(String name, long blocks) {
    Node node = new Node(name, 1 + nodes.size(), blocks);
    nodes.add(node);
    return node;
  }

  Scheduler timers() {
    return timers;
  }

  Scheduler work() {
    return work;
  }

  List<Node> all() {
    return nodes;
  }

  private Mono<KvClient> connect(Endpoint place) {
    return KvClient.connect(TcpTransport.client(TcpClientOptions.to(place.address()), loops),
        KvClientOptions.builder().windowBlocks(16).build(), space, arena, budget);
  }

  /// Keys of the blocks that a reader of the cluster gets, their bytes compared.
  List<BlockKey> got(BlockTier tier, List<BlockKey> keys) {
    return requireNonNull(Flux.using(BlockScope::new, scope -> tier.get(keys, scope).map(block -> {
      Blocks.assertBytes(block);
      block.close();
      return block.key();
    }), BlockScope::close).collectList().block(PATIENCE));
  }

  @Override
  public void close() {
    nodes.forEach(node -> node.tasks.close());
    nodes.forEach(node -> node.cluster.close().block(PATIENCE));
    nodes.forEach(node -> node.server.close().block(PATIENCE));
    loops.disposeLater(Duration.ZERO, PATIENCE).block(PATIENCE);
    timers.dispose();
    work.dispose();
    arena.close();
  }
}
