package io.penstock.lab.bench.cluster.scale;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.cluster.directory.BlockNames;
import io.penstock.cluster.directory.Locate;
import io.penstock.flow.ProducingSource;
import io.penstock.lab.bench.cluster.scale.ScaleCosts.Cost;
import io.penstock.node.content.KvPattern;
import io.penstock.node.shape.BlockShape;
import io.penstock.tier.BlockTier;
import io.penstock.tier.ByteBudget;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.cluster.ClusterDirectory;
import io.penstock.wire.cluster.Located;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.tier.ClusterTier;
import io.penstock.wire.protocol.Carrier;
import io.penstock.wire.simulate.SimulatedTime;
import io.penstock.wire.transport.Endpoint;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongFunction;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// A cluster of many nodes in virtual time: the real directory and announcements of each node over [ModelMap], and at
/// the first node the real tier of the cluster, with real clients and servers over a simulated network. The processor
/// time is that of this thread, which does the work of all nodes concerned.
public final class ScaleModel implements AutoCloseable {
  private static final int BLOCK_BYTES = 512;
  private static final int RUN = 16;
  private static final int FIRST_PORT = 1;
  /// Puts that a node has room for, for each that it gets on average, and more.
  private static final int ROOM = 4;
  private static final long CAPACITY = 1L << 40;
  private static final Duration LONGEST = Duration.ofHours(24);
  /// Longer than a batch of names waits.
  private static final Duration REST = Duration.ofMillis(10);
  private static final Duration SELDOM = Duration.ofSeconds(150);
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final int nodes;
  private final long names;
  private final SimulatedTime time;
  private final SimulatedTime.CapturedDefaults defaults;
  private final RandomGenerator random;
  private final CacheSpace space = BlockShape.of(BLOCK_BYTES, 1).space("scale");
  private final NumberedKeys keys = new NumberedKeys(space.id());
  private final List<ModelNode> all = new ArrayList<>();
  private final SlabArena arena = new SlabArena("first", space.layout(), 4 * RUN, RUN);
  private final SlabArena made = new SlabArena("made", space.layout(), 4 * RUN, RUN);
  private final ByteBudget budget = new ByteBudget("first", 1 << 20, RUN);
  private final ProducingSource source = new ProducingSource(made, SliceShape.Order.LAYER_FIRST,
      (key, range, memory) -> KvPattern.fill(key, space.layout(), range, memory));
  private final ModelMap map;
  private final ClusterTier tier;
  private long putSoFar;
  private long wrong;

  private ScaleModel(int nodes, long names, int puts, long seed) {
    this.nodes = nodes;
    this.names = names;
    this.time = new SimulatedTime(seed);
    this.defaults = time.captureDefaults();
    this.random = time.random("model");
    List<Member> members = new ArrayList<>();
    for (int i = 0; i < nodes; i++) {
      String name = "n%05d".formatted(i);
      members.add(new Member(name, i + 1L, List.of("127.0.0.1:" + (FIRST_PORT + i)), "", Member.State.UP,
          new Member.Figures(0, CAPACITY, 0)));
      all.add(new ModelNode(name, space, keys, names * i / nodes, names * (i + 1) / nodes,
          ROOM * RUN * (puts / nodes + ROOM), time));
    }
    this.map = new ModelMap(names + (long) puts * RUN, members, time.scheduler());
    BlockNames blockNames = new BlockNames(new byte[BlockNames.SECRET_BYTES]);
    for (int i = 0; i < nodes; i++) {
      run(all.get(i).start(i + 1L, time));
      all.get(i).announce(map.at(i), blockNames, () -> random.nextLong() >>> 1, time).subscribe();
    }
    Locate locate = new Locate(map.at(0), blockNames, map::known);
    this.tier = ClusterTier.within(new First(members, locate), member -> member.generation() == 1,
        all.getFirst().tier(), this::connect, "", time.scheduler(), time.scheduler(), random);
  }

  /// The directory at the first node.
  private record First(List<Member> members, Locate locate) implements ClusterDirectory {
    @Override
    public String cluster() {
      return "scale";
    }

    @Override
    public Mono<Located> locate(List<BlockKey> keys) {
      return locate.locate(keys);
    }
  }

  private Mono<KvClient> connect(Endpoint place) {
    int node = Integer.parseInt(place.toString().substring(place.toString().lastIndexOf(':') + 1)) - FIRST_PORT;
    KvClientOptions options =
        KvClientOptions.builder().name("first").carriers(Carrier.INLINE).keepAlive(SELDOM, SELDOM.multipliedBy(2))
            .windowBlocks(RUN).timers(time.scheduler()).build();
    return KvClient.connect(all.get(node).client(), options, space, arena, budget);
  }

  /// Fills a cluster, and measures.
  ///
  /// @param names of blocks that the nodes have at the start
  /// @param calls matches, and puts, that are measured each
  public static ScaleCosts run(int nodes, long names, int calls, long seed) {
    try (ScaleModel model = new ScaleModel(nodes, names, 2 * calls + nodes, seed)) {
      Cost told = model.fill();
      for (int node = 0; node < nodes; node++) { // connections are made, and the first memory of tiers
        model.match(names * node / nodes);
        model.putAt(model.all.get(node).tier());
      }
      model.measured(calls / 2, run -> model.match(model.someHeld()));
      model.measured(calls / 2, run -> model.put());
      Cost match = model.measured(calls, run -> model.match(model.someHeld()));
      Cost put = model.measured(calls, run -> model.put());
      return new ScaleCosts(nodes, model.map.names(), match, put, told,
          (double) model.map.bytes() / model.map.names(), (double) model.map.records() / nodes, model.wrong);
    }
  }

  private Cost fill() {
    long cpu = THREADS.getCurrentThreadCpuTime();
    long before = map.messages();
    time.runUntil(() -> time.steps() % 64 == 0 && all.stream().allMatch(ModelNode::isWhole), LONGEST);
    if (map.names() != names) {
      throw new IllegalStateException("names told must be " + names + " (was " + map.names() + ")");
    }
    return new Cost((double) (map.messages() - before) / names,
        (THREADS.getCurrentThreadCpuTime() - cpu) / 1e3 / names);
  }

  /// The first number of a run of blocks that one node has, which is not the first one.
  private long someHeld() {
    int node = 1 + random.nextInt(nodes - 1);
    long first = names * node / nodes;
    return first + random.nextLong(names * (node + 1) / nodes - first - RUN);
  }

  private boolean match(long first) {
    return requireNonNull(run(tier.match(keys.keys(first, RUN))), "an answer") == RUN;
  }

  private boolean put() {
    return putAt(tier);
  }

  private boolean putAt(BlockTier to) {
    List<BlockKey> fresh = keys.keys(names + putSoFar, RUN);
    putSoFar += RUN;
    long receipts = requireNonNull(run(to.put(fresh, SliceShape.defaults(), source).count()), "a count");
    time.advance(REST);
    return receipts == RUN && map.names() == names + putSoFar;
  }

  private Cost measured(int calls, LongFunction<Boolean> call) {
    long cpu = THREADS.getCurrentThreadCpuTime();
    long before = messages();
    for (int i = 0; i < calls; i++) {
      if (!call.apply(i)) {
        wrong++;
      }
    }
    return new Cost((double) (messages() - before) / calls,
        (THREADS.getCurrentThreadCpuTime() - cpu) / 1e3 / calls);
  }

  private long messages() {
    return map.messages() + all.stream().mapToLong(ModelNode::frames).sum();
  }

  /// Runs the world until a call has ended.
  private <T> @Nullable T run(Mono<T> call) {
    AtomicReference<@Nullable T> result = new AtomicReference<>();
    AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    AtomicBoolean over = new AtomicBoolean();
    call.doFinally(end -> over.set(true)).subscribe(result::set, failure::set);
    boolean ended = time.runUntil(over::get, LONGEST);
    Throwable failed = failure.get();
    if (failed != null || !ended) {
      throw new IllegalStateException("a call must end in virtual time (was at " + time.nanos() + " ns)", failed);
    }
    return result.get();
  }

  @Override
  public void close() {
    run(tier.close());
    all.forEach(node -> run(node.close()));
    map.close();
    arena.close();
    made.close();
    defaults.close();
  }
}
