package io.penstock.wire.cluster.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.stack.HostTier;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.tier.BlockTier;
import io.penstock.tier.PutSource;
import io.penstock.tier.TierListener;
import io.penstock.tier.TierStat;
import io.penstock.tier.spi.TierInputs;
import io.penstock.wire.cluster.Located;
import io.penstock.wire.cluster.Member;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Nodes of a cluster in this process. Its directory tells what the nodes have, and what a test adds.
final class ClusterOfTiers implements Nodes {
  final CacheSpace space;
  final AtomicInteger questions = new AtomicInteger();
  /// Counts the uses of all blocks.
  private final AtomicLong clock = new AtomicLong();
  private final SlabArena arena;
  private final Map<String, Node> nodes = new TreeMap<>();
  /// Names of living nodes that the list of members lacks.
  final Set<String> hidden = new HashSet<>();
  /// What the directory says beside the truth.
  final Map<BlockKey, String> stale = new HashMap<>();

  final class Node {
    final HostTier tier;
    final MortalTier mortal;
    Member member;

    Node(String name, long generation, long capacity, StackOptions options) {
      tier = new HostTier(space, capacity, options, TierListener.noop(),
          TierInputs.of(SlabArena.ChunkSource.ofSystem(), clock::incrementAndGet));
      mortal = new MortalTier(tier);
      member = new Member(name, generation, List.of("127.0.0.1:1"), "", Member.State.UP, Member.Figures.NONE);
    }

    void put(List<BlockKey> keys) {
      try (BlockScope scope = new BlockScope()) {
        List<Block> blocks = keys.stream().map(key -> scope.adopt(Blocks.block(arena, key))).toList();
        tier.put(keys, SliceShape.defaults(), PutSource.of(blocks, SliceShape.Order.LAYER_FIRST)).blockLast();
      }
    }

    List<BlockKey> of(List<BlockKey> keys) {
      return requireNonNull(tier.contains(keys).block()).bits().stream().mapToObj(keys::get).toList();
    }

    private Member told() {
      TierStat stat = requireNonNull(tier.stat().block());
      return new Member(member.name(), member.generation(), member.endpoints(), member.place(), member.state(),
          new Member.Figures(stat.bytes(), tier.info().capacityBlocks() * space.layout().blockBytes(), 0,
              stat.oldestUseMicros() == 0 ? 0 : clock.get() - stat.oldestUseMicros()));
    }
  }

  ClusterOfTiers(CacheSpace space) {
    this.space = space;
    this.arena = new SlabArena("source", space.layout(), 256, 1024);
  }

  Node add(String name, long capacity) {
    return add(name, capacity, StackOptions.defaults("dram"));
  }

  Node add(String name, long capacity, StackOptions options) {
    Node before = nodes.get(name);
    Node node = new Node(name, before == null ? 1 : before.member.generation() + 1, capacity, options);
    nodes.put(name, node);
    return node;
  }

  Node node(String name) {
    return requireNonNull(nodes.get(name));
  }

  private List<Node> living() {
    return nodes.values().stream().filter(node -> !node.mortal.isDead()).toList();
  }

  @Override
  public Mono<Located> locate(List<BlockKey> keys) {
    return Mono.fromSupplier(() -> {
      questions.incrementAndGet();
      List<Node> all = List.copyOf(nodes.values()); // the dead ones, too: the directory learns late
      List<List<Located.Holder>> holders = new ArrayList<>();
      for (BlockKey key : keys) {
        List<Located.Holder> of = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
          if (all.get(i).member.name().equals(stale.get(key)) || !all.get(i).of(List.of(key)).isEmpty()) {
            of.add(new Located.Holder(i, 0));
          }
        }
        holders.add(of);
      }
      return Located.of(all.stream().map(node -> node.member).toList(), holders);
    });
  }

  @Override
  public Mono<List<Member>> members() {
    return Mono.fromSupplier(() -> living().stream().filter(node -> !hidden.contains(node.member.name()))
        .map(Node::told).toList());
  }

  @Override
  public Mono<BlockTier> node(Member member) {
    return Mono.defer(() -> {
      questions.incrementAndGet();
      Node node = requireNonNull(nodes.get(member.name()));
      return node.mortal.isDead() || node.member.generation() != member.generation()
          ? Mono.error(MortalTier.failure())
          : Mono.just(node.mortal);
    });
  }

  @Override
  public Mono<Void> close() {
    return Flux.fromIterable(nodes.values()).flatMap(node -> node.tier.close()).then();
  }

  /// Slots that blocks of the nodes take: those that are visible, and those that a reader still holds.
  long claimedSlots() {
    return nodes.values().stream().mapToLong(node -> node.tier.arena().claimedSlots()).sum();
  }

  long visibleBlocks() {
    return nodes.values().stream().mapToLong(node -> requireNonNull(node.tier.stat().block()).blocks()).sum();
  }
}
