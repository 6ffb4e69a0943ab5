package io.penstock.node.cluster.hot;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.node.cluster.task.OwnBlocks;
import io.penstock.stack.HostTier;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.tier.BlockTier;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.Lease;
import io.penstock.tier.OnMiss;
import io.penstock.tier.PutSource;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.tier.TierListener;
import io.penstock.tier.spi.ForwardingTier;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.cluster.ClusterDirectory;
import io.penstock.wire.cluster.Located;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.tier.ClusterTier;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.security.Access;
import io.penstock.wire.security.AccessRules;
import io.penstock.wire.security.Credentials;
import io.penstock.wire.security.Grant;
import io.penstock.wire.security.Role;
import io.penstock.wire.security.UserFile;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.simulate.LinkPlan;
import io.penstock.wire.simulate.SimulatedLink;
import io.penstock.wire.simulate.SimulatedTime;
import io.penstock.wire.transport.Endpoint;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Nodes of a cluster and their readers: the real protocol over simulated links, in one thread and virtual time. The
/// directory tells what the nodes had a moment ago.
final class HotNodes implements AutoCloseable {
  static final CacheSpace SPACE = CacheSpace.of("hot", BlockLayout.attention(2, 4, 2, 64, ElementType.BF16));
  static final long BLOCK = SPACE.layout().blockBytes();
  private static final int FIRST_PORT = 7001;
  private static final Duration LAG = Duration.ofMillis(1500);

  final SimulatedTime time;
  final List<Node> nodes = new ArrayList<>();
  final List<BlockTier> readers = new ArrayList<>();
  private final long rate;
  private final LinkPlan plan;
  private final SimulatedTime.CapturedDefaults defaults;
  private final SlabArena arena = new SlabArena("clients", SPACE.layout(), 256, 1024);
  private final ByteBudget budget = new ByteBudget("clients", 1 << 30, 1024);
  private final HostTier none = new HostTier(SPACE, 1, TierListener.noop());
  private final Known known = new Known();
  private final Disposable.Composite readings = Disposables.composite();
  private final List<ClusterTier> clusters = new ArrayList<>();
  private Access access = Access.open();
  private Credentials shown = Credentials.none();
  long read;
  final List<Throwable> failures = new ArrayList<>();

  /// @param rate bytes a second that one holder is to give of a block
  HotNodes(long seed, long rate, LinkPlan plan) {
    this.time = new SimulatedTime(seed);
    this.rate = rate;
    this.plan = plan;
    this.defaults = time.captureDefaults();
  }

  /// Nodes that ask who connects: all others are one user of that role.
  HotNodes withRole(Role role) {
    char[] token = UserFile.newToken(new SecureRandom());
    UserFile users;
    try {
      Path file = Files.createTempFile("users", "");
      try {
        users = UserFile.read(Files.write(file, List.of(UserFile.lineOf("node", token))));
      } finally {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    AccessRules rules = new AccessRules(Map.of("node", List.of(Grant.everywhere(role))));
    access = Access.of(() -> users, () -> rules);
    shown = Credentials.bearer(token);
    return this;
  }

  final class Node {
    final String name;
    final HostTier tier;
    final Demand demand = new Demand(HotCopies.HALF_LIFE, time::nanos);
    final HotCopies hot;
    private final int number;
    private final ClusterTier cluster;
    private final KvServer server;
    private final SimulatedLink link;
    private final Disposable looks;
    Member.State state = Member.State.UP;
    boolean isDead;
    private long bytes;

    /// @param sendsPerSecond blocks that it sends at most, one after the other
    Node(int number, long blocks, double sendsPerSecond, boolean copies) {
      this.number = number;
      this.name = "n" + (char) ('a' + number);
      this.tier = new HostTier(SPACE, blocks, StackOptions.defaults("dram"), TierListener.noop());
      this.link = SimulatedLink.of(time, name, UnpooledByteBufAllocator.DEFAULT, plan);
      this.server = now(KvServer.bind(link.server(), new CountedTier(new Uplink(tier, sendsPerSecond), demand),
          KvServerOptions.builder()
              .limits(new Limits(4096, 8, 64)).sendWindowBytes(4 * 4096).generation(number + 1)
              .access(access).build(),
          new ByteBudget(name, 1 << 20, 1024), time.scheduler()));
      this.cluster = cluster(member -> member.name().equals(name), tier, number);
      this.hot = new HotCopies(member -> member.name().equals(name), rate, demand,
          () -> List.of(new OwnBlocks(tier, cluster)), time.scheduler(), time.scheduler());
      this.looks = copies ? hot.run().subscribe(nothing -> {}, failures::add) : Disposables.disposed();
    }

    private Member member() {
      return new Member(name, number + 1, List.of("127.0.0.1:" + (FIRST_PORT + number)), "", state,
          new Member.Figures(bytes, tier.info().capacityBlocks() * BLOCK, 0));
    }

    void put(PutTerms terms, BlockKey key) {
      try (BlockScope scope = new BlockScope(); SlabArena source = new SlabArena("source", SPACE.layout(), 1, 1)) {
        Block made = scope.adopt(Blocks.block(source, key));
        tier.put(List.of(key), terms, SliceShape.defaults(),
            PutSource.of(List.of(made), SliceShape.Order.LAYER_FIRST)).blockLast();
        made.close();
      }
    }

    boolean has(BlockKey key) {
      return !isDead && requireNonNull(tier.contains(List.of(key)).block()).count() > 0;
    }

    long hits() {
      return requireNonNull(tier.stat().block()).hits();
    }

    void die() {
      isDead = true;
      looks.dispose();
      server.close().subscribe();
    }
  }

  /// Blocks that leave a node one after the other.
  private final class Uplink extends ForwardingTier {
    private final BlockTier tier;
    private final long nanosEach;
    private long free;

    Uplink(BlockTier tier, double perSecond) {
      super(tier);
      this.tier = tier;
      this.nanosEach = (long) (1e9 / perSecond);
    }

    @Override
    public Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, BlockScope scope) {
      return Mono.defer(() -> {
        free = Math.max(free, time.nanos()) + nanosEach * keys.size();
        return Mono.delay(Duration.ofNanos(free - time.nanos()), time.scheduler());
      }).then(tier.lease(keys, onMiss, scope));
    }
  }

  /// Tells the holders of a moment ago, and the members of now.
  private final class Known implements ClusterDirectory {
    private final List<List<BlockKey>> had = new ArrayList<>();
    private long asOf = Long.MIN_VALUE;

    @Override
    public String cluster() {
      return "simulated";
    }

    private List<Node> living() {
      return nodes.stream().filter(node -> !node.isDead).toList();
    }

    @Override
    public List<Member> members() {
      return living().stream().map(Node::member).toList();
    }

    @Override
    public Mono<Located> locate(List<BlockKey> keys) {
      return Mono.fromSupplier(() -> {
        if (had.size() != nodes.size() || time.nanos() - asOf >= LAG.toNanos()) {
          had.clear();
          for (Node node : nodes) {
            had.add(keys().stream().filter(node::has).toList());
            node.bytes = had.getLast().size() * BLOCK;
          }
          asOf = time.nanos();
        }
        List<Node> living = living();
        return Located.of(members(), keys.stream().map(key -> holders(living, key)).toList());
      });
    }

    private List<Located.Holder> holders(List<Node> living, BlockKey key) {
      List<Located.Holder> of = new ArrayList<>();
      for (int i = 0; i < living.size() && of.size() < Located.MOST_HOLDERS; i++) {
        if (had.get(living.get(i).number).contains(key)) {
          of.add(new Located.Holder(i, 0));
        }
      }
      return of;
    }
  }

  /// All keys of a test.
  static List<BlockKey> keys() {
    return Blocks.keys(SPACE, 0, 4);
  }

  static BlockKey key() {
    return keys().getFirst();
  }

  HotNodes add(int count) {
    return add(count, 1e6, true);
  }

  HotNodes add(int count, double sendsPerSecond, boolean copies) {
    for (int i = 0; i < count; i++) {
      nodes.add(new Node(nodes.size(), 64, sendsPerSecond, copies));
    }
    return this;
  }

  HotNodes addReaders(int count) {
    for (int i = 0; i < count; i++) {
      readers.add(cluster(member -> false, none, 1000 + readers.size()));
    }
    return this;
  }

  private ClusterTier cluster(Predicate<Member> self, BlockTier own, long number) {
    ClusterTier tier = ClusterTier.within(known, self, own, this::connect, "", time.scheduler(), time.scheduler(),
        new SplittableRandom(time.seed() * 31 + number));
    clusters.add(tier);
    return tier;
  }

  private Mono<KvClient> connect(Endpoint place) {
    return KvClient.connect(nodes.get(place.port() - FIRST_PORT).link.client(),
        KvClientOptions.builder().credentials(shown).windowBlocks(4).maxSliceBytes(4096).build(), SPACE, arena, budget);
  }

  /// Blocks that came of `keys`.
  Mono<Long> reading(BlockTier reader, List<BlockKey> keys) {
    return Flux.using(BlockScope::new, scope -> reader.get(keys, scope).doOnNext(block -> {
      if (read % 32 == 0) {
        Blocks.assertBytes(block);
      }
      block.close();
    }), BlockScope::close).count();
  }

  /// Readers take turns to read `key` so many times a second, until the answer is disposed.
  Disposable reads(BlockKey key, double timesASecond) {
    Disposable reads = Flux.interval(Duration.ofNanos((long) (1e9 / timesASecond)), time.scheduler())
        .flatMap(i -> reading(readers.get((int) (i % readers.size())), List.of(key)), 256)
        .subscribe(blocks -> read += blocks, failures::add);
    readings.add(reads);
    return reads;
  }

  /// Each reader reads `key` again and again.
  void readsOn(BlockKey key) {
    for (BlockTier reader : readers) {
      readings.add(reading(reader, List.of(key)).doOnNext(blocks -> read += blocks).repeat()
          .subscribe(blocks -> {}, failures::add));
    }
  }

  List<String> holders(BlockKey key) {
    return nodes.stream().filter(node -> node.has(key)).map(node -> node.name).toList();
  }

  Node node(String name) {
    return nodes.stream().filter(node -> node.name.equals(name)).findFirst().orElseThrow();
  }

  void pass(long seconds) {
    time.advance(Duration.ofSeconds(seconds));
    assertThat(failures).as("seed " + time.seed()).isEmpty();
  }

  <T> T now(Mono<T> mono) {
    CompletableFuture<T> done = mono.toFuture();
    assertThat(time.runUntil(done::isDone, Duration.ofMinutes(1))).as("it ends").isTrue();
    return done.join();
  }

  @Override
  public void close() {
    readings.dispose();
    nodes.forEach(node -> node.looks.dispose());
    time.advance(Duration.ofSeconds(1));
    clusters.forEach(cluster -> cluster.close().subscribe());
    nodes.forEach(node -> node.server.close().subscribe());
    time.advance(Duration.ofSeconds(5));
    assertThat(arena.claimedSlots()).as("slots of readers, seed " + time.seed()).isZero();
    nodes.forEach(node -> {
      assertThat(node.tier.arena().claimedSlots()).as("slots of " + node.name)
          .isEqualTo(requireNonNull(node.tier.stat().block()).blocks());
      node.tier.close().block();
    });
    none.close().block();
    arena.close();
    defaults.close();
  }
}
