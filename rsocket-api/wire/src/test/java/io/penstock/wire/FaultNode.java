package io.penstock.wire;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.stack.HostTier;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.Eventually;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierListener;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.server.space.NodeSpaces;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// A node with blocks and a segment of memory, which may be started again on the same port, without its blocks.
final class FaultNode implements AutoCloseable {
  static final int STORED = 24;
  /// Room for all puts of a round: none is hurried because others wait for room.
  private static final int PUT_BLOCKS = 384;
  private final LinkEnds ends;
  private final FaultLimits limits;
  private final FaultTime time;
  private final Scheduler timers;
  private final ByteBudget budget = new ByteBudget("node", 64L * FaultRound.SLICE_BYTES, 256);
  private final List<FaultSegment> segments = new CopyOnWriteArrayList<>();
  private HostTier tier;
  private KvServer server;
  private final int port;

  /// @param limits of its clients
  FaultNode(LinkEnds ends, FaultLimits limits, FaultTime time) {
    this.ends = ends;
    this.time = time;
    this.timers = time.timers();
    this.limits = limits;
    this.tier = tier();
    this.server = started(0);
    this.port = ends.port(server);
    fill();
  }

  LinkEnds ends() {
    return ends;
  }

  FaultLimits limits() {
    return limits;
  }

  FaultTime time() {
    return time;
  }

  Scheduler timers() {
    return timers;
  }

  int port() {
    return port;
  }

  /// The memory of each start since [#forgetSegments()], the last one's included.
  List<FaultSegment> segments() {
    return List.copyOf(segments);
  }

  private HostTier tier() {
    return new HostTier(FaultRound.SPACE, 2 * PUT_BLOCKS, StackOptions.defaults("dram").withIngressBlocks(PUT_BLOCKS),
        TierListener.noop(), ends.chunks());
  }

  private KvServer started(int at) {
    FaultSegment segment = new FaultSegment(segments.isEmpty() ? 1 : segments.getLast().generation() + 1);
    segments.add(segment);
    KvServerOptions options = KvServerOptions.builder()
        .limits(new Limits(FaultRound.SLICE_BYTES, FaultRound.WINDOW, 256))
        .sendWindowBytes(8L * FaultRound.SLICE_BYTES).putBlocks(PUT_BLOCKS).generation(segment.generation()).build();
    return requireNonNull(KvServer.bind(ends.server(at), NodeSpaces.of(List.of(tier)), segment.registry(), options,
        budget, timers, Schedulers.immediate()).block(FaultRound.PATIENCE));
  }

  /// Its end and its start on the same port.
  void restart() {
    stop();
    tier = tier();
    server = started(port);
    fill();
  }

  private void stop() {
    server.close().block(FaultRound.PATIENCE);
    tier.close().block(FaultRound.PATIENCE);
    segments.getLast().unregister();
    await("slots of a closed tier", () -> tier.arena().claimedSlots() == 0);
  }

  /// By a client whose connection has no fault: the node lives.
  private void fill() {
    try (FaultClient client = new FaultClient(this, port, FaultRound.WINDOW)) {
      client.connect();
      List<BlockKey> keys = Blocks.keys(FaultRound.SPACE, 0, STORED);
      assertThat(client.connected().put(keys, client.source()).count().block(FaultRound.PATIENCE)).isEqualTo(STORED);
      assertThat(client.read(keys).collectList().block(FaultRound.PATIENCE)).hasSameSizeAs(keys);
    }
  }

  /// Gets and puts of healthy connections that are cancelled in their midst.
  void cancelSome(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < 8; i++) {
      try (FaultClient client = new FaultClient(this, port, FaultRound.WINDOW)) {
        client.connect();
        client.read(Blocks.keys(FaultRound.SPACE, 0, STORED)).take(random.nextInt(1, STORED))
            .blockLast(FaultRound.PATIENCE);
        client.connected().put(Blocks.keys(FaultRound.SPACE, STORED, 2 * STORED), client.source())
            .take(random.nextInt(1, STORED)).blockLast(FaultRound.PATIENCE);
      }
    }
    requireIdle();
    requireHonest(List.of());
  }

  /// Waits until no stream runs and nothing is charged.
  void requireIdle() {
    await("no running streams, no bytes in flight", () -> server.runningStreams() == 0 && budget.inUseBytes() == 0);
    await("memory of visible blocks alone", () -> {
      var stat = requireNonNull(tier.stat().block(FaultRound.PATIENCE));
      return stat.claimedBytes() == stat.bytes();
    });
  }

  /// Compares every byte of every block that can be seen, under whatever key, and forgets all but those that were there
  /// first.
  void requireHonest(List<BlockKey> acknowledged) {
    List<BlockKey> visible = requireNonNull(tier.follow().takeUntil(TierEvent.SnapshotEnded.class::isInstance)
        .ofType(TierEvent.Present.class).map(TierEvent.Present::key).collectList().block(FaultRound.PATIENCE));
    List<BlockKey> first = Blocks.keys(FaultRound.SPACE, 0, STORED);
    assertThat(visible).containsAll(acknowledged).containsAll(first);
    try (BlockScope scope = new BlockScope()) {
      assertThat(tier.get(visible, scope).map(block -> {
        Blocks.assertBytes(block);
        block.close();
        return true;
      }).count().block(FaultRound.PATIENCE)).isEqualTo(visible.size());
    }
    tier.remove(visible.stream().filter(key -> !first.contains(key)).toList()).block(FaultRound.PATIENCE);
  }

  /// Forgets the memory of earlier starts.
  void forgetSegments() {
    FaultSegment last = segments.getLast();
    segments.removeIf(segment -> !segment.equals(last));
  }

  static void await(String what, BooleanSupplier condition) {
    Eventually.holds(what, FaultRound.PATIENCE, condition::getAsBoolean);
  }

  @Override
  public void close() {
    stop();
    try (LeakLedger leaks = new LeakLedger()) {
      leaks.watch(budget);
    }
  }
}
