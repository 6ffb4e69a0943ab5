package io.penstock.wire;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.KvException;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.flow.ProducingSource;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.HostTier;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Receipt;
import io.penstock.tier.StackOptions;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierListener;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// Gets and puts of a few hundred KiB over connections to which something happens, side by side over one node: each
/// ends exactly once, in the state that fits the fault, with no wrong byte; nothing leaks on either side, and the node
/// lives on.
///
/// A case is one seed: two connections, a get and a put on each. The first connection has a fault, and the second one
/// has a fault in every other case. In every eighth round connections fall silent too, which is heard only by the end
/// of keep-alive; in another one the node is started again on the same port, without its blocks, while its clients are
/// at work.
///
/// A flipped bit may turn a request into a frame that RSocket drops without a word, on a connection that lives on: the
/// client's limit for answers ends the item.
///
/// @param size number of cases
record FaultRound(Node node, int number, int size, Tally tally) {
  static final CacheSpace SPACE =
      CacheSpace.of("faults", BlockLayout.attention(8, 16, 2, 64, ElementType.BF16));
  static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int SLICE_BYTES = 32 << 10;
  private static final int WINDOW = 4;
  private static final int STORED = 24;
  private static final int READ = 4;
  private static final int WRITTEN = 3;
  private static final int ROUNDS_A_TURN = 8;
  private static final Duration KEEP_ALIVE = Duration.ofSeconds(1);
  private static final Duration LIFETIME = Duration.ofSeconds(10);
  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(10);

  void run() {
    SplittableRandom random = new SplittableRandom(number);
    boolean restarts = number % ROUNDS_A_TURN == 1;
    List<Case> cases = IntStream.range(0, size).boxed().flatMap(this::cases).toList();
    try {
      AtomicInteger ended = new AtomicInteger();
      List<CompletableFuture<Void>> running = cases.stream().map(each -> each.run(ended)).toList();
      if (restarts) {
        int first = random.nextInt(2 * cases.size());
        await("the item before the restart", () -> ended.get() >= first);
        node.restart();
      }
      end(cases, running);
      cases.forEach(each -> each.client.close());
      node.requireIdle();
      cases.forEach(each -> checked(each, restarts));
      tally.faults += Math.toIntExact(cases.stream().filter(each -> each.faulty(restarts)).count());
      node.requireHonest(restarts ? List.of() : acknowledged(cases));
    } catch (Throwable e) {
      throw new AssertionError("round " + number + ", seeds " + seed(0) + " to " + seed(size - 1), e);
    } finally {
      cases.forEach(each -> each.proxy.close());
    }
  }

  private long seed(int i) {
    return (long) number * size + i;
  }

  private Stream<Case> cases(int i) {
    SplittableRandom random = new SplittableRandom(seed(i));
    long most = node.link == Link.SHARED_MEMORY ? 4_000 : 220_000;
    FaultProxy.Plan first = plan(random, most);
    FaultProxy.Plan second = random.nextBoolean() ? FaultProxy.Plan.NONE : plan(random, most);
    return Stream.of(new Case(node, seed(i), 0, first, random.nextInt(STORED - READ)),
        new Case(node, seed(i), 1, second, random.nextInt(STORED - READ)));
  }

  private FaultProxy.Plan plan(SplittableRandom random, long mostBytes) {
    FaultProxy.Plan plan = FaultProxy.Plan.random(random, mostBytes);
    return number % ROUNDS_A_TURN == 0 || !plan.kind().isSilent() ? plan : plan(random, mostBytes);
  }

  private static void end(List<Case> cases, List<CompletableFuture<Void>> running) throws Exception {
    try {
      CompletableFuture.allOf(running.toArray(CompletableFuture[]::new)).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new AssertionError("items must end (was "
          + cases.stream().filter(each -> !running.get(cases.indexOf(each)).isDone())
              .map(each -> "seed " + each.seed + " " + each.proxy.plan()).toList()
          + ")", e);
    } catch (ExecutionException e) {
      throw new AssertionError(e.getCause());
    }
  }

  private void checked(Case each, boolean restarts) {
    try {
      each.check(restarts, tally);
    } catch (AssertionError e) {
      throw new AssertionError("seed " + each.seed, e);
    }
  }

  private static List<BlockKey> acknowledged(List<Case> cases) {
    return cases.stream().flatMap(each -> each.put.values().stream()).map(Receipt::key).toList();
  }

  static void await(String what, BooleanSupplier condition) {
    long until = System.nanoTime() + PATIENCE.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > until) {
        throw new AssertionError(what + " must come within " + PATIENCE);
      }
      Thread.yield();
    }
  }

  /// What happened, and how items ended.
  static final class Tally {
    private final Map<String, Integer> counts = new TreeMap<>();
    private int faults;
    private long bytes;

    /// Faults that happened.
    int faults() {
      return faults;
    }

    void add(String what) {
      counts.merge(what, 1, Integer::sum);
    }

    @Override
    public String toString() {
      return faults + " faults, " + bytes + " bytes compared, " + counts;
    }
  }

  /// A node that may be started again.
  static final class Node implements AutoCloseable {
    private final Link link;
    private final Scheduler timers = Schedulers.newSingle("timers", true);
    private final ByteBudget budget = new ByteBudget("node", 64L * SLICE_BYTES, 256);
    private HostTier tier;
    private KvServer server;
    private final int port;
    private int starts;

    Node(Link link) {
      this.link = link;
      this.tier = tier();
      this.server = started(0);
      this.port = link.port(server);
      fill();
    }

    private HostTier tier() {
      return new HostTier(SPACE, 512, StackOptions.defaults("dram").withIngressBlocks(128), TierListener.noop(),
          link.chunks());
    }

    private KvServer started(int at) {
      KvServerOptions options = KvServerOptions.builder().limits(new Limits(SLICE_BYTES, WINDOW, 256))
          .sendWindowBytes(8L * SLICE_BYTES).generation(++starts).build();
      return requireNonNull(KvServer.bind(link.server(at), tier, options, budget, timers).block(PATIENCE));
    }

    /// Its end and its start on the same port, without its blocks.
    void restart() {
      stop();
      tier = tier();
      server = started(port);
      fill();
    }

    private void stop() {
      server.close().block(PATIENCE);
      tier.close().block(PATIENCE);
      await("slots of a closed tier", () -> tier.arena().claimedSlots() == 0);
    }

    /// By a client whose connection has no fault: the node lives.
    private void fill() {
      try (Client client = new Client(this, port, 0)) {
        client.connect();
        List<BlockKey> keys = Blocks.keys(SPACE, 0, STORED);
        assertThat(client.connected().put(keys, client.source()).count().block(PATIENCE)).isEqualTo(STORED);
        assertThat(client.read(keys).collectList().block(PATIENCE)).hasSameSizeAs(keys);
      }
    }

    /// Gets and puts of healthy connections that are cancelled in their midst.
    void cancelSome(long seed) {
      SplittableRandom random = new SplittableRandom(seed);
      for (int i = 0; i < 8; i++) {
        try (Client client = new Client(this, port, 0)) {
          client.connect();
          client.read(Blocks.keys(SPACE, 0, STORED)).take(random.nextInt(1, STORED)).blockLast(PATIENCE);
          client.connected().put(Blocks.keys(SPACE, STORED, 2 * STORED), client.source())
              .take(random.nextInt(1, STORED)).blockLast(PATIENCE);
        }
      }
      requireIdle();
      requireHonest(List.of());
    }

    /// Waits until no stream runs and nothing is charged.
    void requireIdle() {
      await("no running streams, no bytes in flight", () -> server.runningStreams() == 0 && budget.inUseBytes() == 0);
      await("memory of visible blocks alone", () -> {
        var stat = requireNonNull(tier.stat().block(PATIENCE));
        return stat.claimedBytes() == stat.bytes();
      });
    }

    /// Compares every byte of every block that can be seen, under whatever key, and forgets all but those that were
    /// there first.
    void requireHonest(List<BlockKey> acknowledged) {
      List<BlockKey> visible = requireNonNull(tier.follow().takeUntil(TierEvent.SnapshotEnded.class::isInstance)
          .ofType(TierEvent.Present.class).map(TierEvent.Present::key).collectList().block(PATIENCE));
      assertThat(visible).containsAll(acknowledged).containsAll(Blocks.keys(SPACE, 0, STORED));
      try (BlockScope scope = new BlockScope()) {
        assertThat(tier.get(visible, scope).map(block -> {
          Blocks.assertBytes(block);
          block.close();
          return true;
        }).count().block(PATIENCE)).isEqualTo(visible.size());
      }
      List<BlockKey> added = visible.stream()
          .filter(key -> !Blocks.keys(SPACE, 0, STORED).contains(key)).toList();
      tier.remove(added).block(PATIENCE);
    }

    @Override
    public void close() {
      stop();
      timers.dispose();
      try (LeakLedger leaks = new LeakLedger()) {
        leaks.watch(budget);
      }
    }
  }

  /// A connection of its own, with all that lands there.
  private static final class Client implements AutoCloseable {
    private final Link link;
    private final int port;
    private final Scheduler timers;
    private final long number;
    private final SlabArena arena;
    private final ByteBudget budget = new ByteBudget("client", 16L * SLICE_BYTES, 64);
    private @Nullable KvClient client;

    Client(Node node, int port, long number) {
      this.link = node.link;
      this.port = port;
      this.timers = node.timers;
      this.number = number;
      this.arena = new SlabArena("client", SPACE.layout(), 16, 64, link.chunks());
    }

    Mono<KvClient> connecting() {
      return KvClient.connect(link.client(port), KvClientOptions.builder().maxSliceBytes(SLICE_BYTES)
          .windowBlocks(WINDOW).keepAlive(KEEP_ALIVE, LIFETIME).answerTimeout(ANSWER_LIMIT).timers(timers).build(),
          SPACE, arena,
          budget)
          .doOnNext(made -> client = made);
    }

    void connect() {
      connecting().block(PATIENCE);
    }

    KvClient connected() {
      return requireNonNull(client, "client");
    }

    ProducingSource source() {
      return new ProducingSource(arena, SliceShape.Order.LAYER_FIRST,
          (key, range, to) -> Blocks.fill(key, range.offset(SPACE.layout()), to));
    }

    /// The keys of the blocks that came whole; each byte is compared.
    Flux<BlockKey> read(List<BlockKey> keys) {
      return Flux.using(BlockScope::new, scope -> connected().lease(keys, OnMiss.SKIP, scope)
          .flatMapMany(lease -> lease.windows(WINDOW, scope)).concatMapIterable(blocks -> blocks).map(leased -> {
            Blocks.assertBytes(leased.block());
            leased.block().close();
            return leased.block().key();
          }), BlockScope::close);
    }

    List<BlockKey> fresh() {
      return Blocks.keys(SPACE, 1000 + number * WRITTEN, 1000 + (number + 1) * WRITTEN);
    }

    @Override
    public void close() {
      if (client != null) {
        client.close().block(PATIENCE);
      }
      try (LeakLedger leaks = new LeakLedger()) {
        leaks.watch(arena);
        leaks.watch(budget);
      }
    }
  }

  /// A connection through a proxy, and the items on it.
  private static final class Case {
    private final long seed;
    private final FaultProxy proxy;
    private final Client client;
    private final List<BlockKey> wanted;
    private final OnceEnded<KvClient> connecting = new OnceEnded<>();
    private final OnceEnded<BlockKey> get = new OnceEnded<>();
    private final OnceEnded<Receipt> put = new OnceEnded<>();

    Case(Node node, long seed, int connection, FaultProxy.Plan plan, int from) {
      this.seed = seed;
      this.proxy = new FaultProxy(node.port, plan);
      this.client = new Client(node, proxy.port(), seed * 2 + connection);
      this.wanted = Blocks.keys(SPACE, from, from + READ);
    }

    /// @param ended told of each item that ended
    CompletableFuture<Void> run(AtomicInteger ended) {
      client.connecting().subscribe(connecting);
      return connecting.ended().thenCompose(connected -> {
        if (connected.values().isEmpty()) {
          ended.addAndGet(2);
          return CompletableFuture.completedFuture(null);
        }
        client.read(wanted).doFinally(end -> ended.incrementAndGet()).subscribe(get);
        client.connected().put(client.fresh(), client.source()).doFinally(end -> ended.incrementAndGet())
            .subscribe(put);
        return CompletableFuture.allOf(get.ended(), put.ended());
      });
    }

    boolean faulty(boolean restarted) {
      return proxy.fired() || restarted;
    }

    void check(boolean restarted, Tally tally) {
      connecting.requireOneEnd();
      check("connect", connecting, connecting.values().size() == 1, restarted, tally);
      if (connecting.values().size() == 1) {
        get.requireOneEnd();
        put.requireOneEnd();
        check("get", get, get.values().equals(wanted), restarted, tally);
        check("put", put, put.values().stream().map(Receipt::key).toList().equals(client.fresh()), restarted, tally);
        tally.bytes += (long) get.values().size() * SPACE.layout().blockBytes();
      }
    }

    private void check(String item, OnceEnded<?> ended, boolean whole, boolean restarted, Tally tally) {
      Throwable error = ended.error();
      String fault = fault(restarted);
      String end = end(error, whole);
      tally.add(fault + " " + item + " " + end);
      if (!fits(error, whole, restarted)) {
        throw new AssertionError(item + " must not end " + end + " after " + fault + ": " + proxy.plan(), error);
      }
    }

    private String fault(boolean restarted) {
      if (proxy.fired()) {
        return proxy.plan().kind().name();
      }
      return restarted ? "RESTART" : "none";
    }

    private static String end(@Nullable Throwable error, boolean whole) {
      if (error != null) {
        return error.getClass().getSimpleName();
      }
      return whole ? "whole" : "not whole";
    }

    private boolean fits(@Nullable Throwable error, boolean whole, boolean restarted) {
      if (error == null && whole) {
        return true;
      }
      boolean fired = proxy.fired() && !proxy.plan().kind().isHarmless();
      if (fired && proxy.plan().kind() == FaultProxy.Kind.CORRUPT) {
        return error == null || error instanceof KvException;
      }
      if (error == null) {
        return restarted; // the blocks are gone
      }
      return error instanceof ConnectionLostException
          ? fired || restarted
          : error instanceof DrainingException && restarted;
    }
  }
}
