package io.penstock.lab.bench.growth;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.GranuleRange;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.lab.bench.side.BenchBlocks;
import io.penstock.lab.bench.side.BenchTransport;
import io.penstock.lab.bench.side.BenchWait;
import io.penstock.lab.bench.side.Direction;
import io.penstock.lab.bench.side.Load;
import io.penstock.lab.bench.side.RequestLoad;
import io.penstock.lab.bench.side.WireShape;
import io.penstock.stack.HostTier;
import io.penstock.stack.shape.StackOptions;
import io.penstock.tier.BlockTier;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.OnMiss;
import io.penstock.tier.PutSource;
import io.penstock.tier.TierListener;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.server.space.NodeSpaces;
import io.penstock.wire.transport.SocketTuning;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// A node and its clients in this process, over loopback sockets.
final class GrownPair implements AutoCloseable {
  /// Requests under way.
  static final int UNDER_WAY = 4;
  private static final int READ_BLOCKS = 1024;
  private static final int WAITERS = 4096;
  private static final long BUDGET_BYTES = 64L << 20;

  /// @param batch blocks of a request
  /// @param connections that are used by turns; 0 if each request has one of its own
  /// @param spaces of the node, used by turns
  /// @param keys that each space holds, at most as well
  record Shape(int blockBytes, int layers, int batch, int connections, int spaces, int keys) {}

  private final Shape shape;
  private final LoopResources loops;
  private final WireShape wire;
  private final Scheduler timers = Schedulers.newSingle("penstock-growth-timers", true);
  private final ByteBudget clientBudget = new ByteBudget("growth-client", BUDGET_BYTES, WAITERS);
  private final List<Served> served = new ArrayList<>();
  /// Where gets land; one for all spaces, which are alike, so that memory does not grow with them.
  private final SlabArena landed;
  private final SlabArena toPut;
  private final List<KvClient> clients = new ArrayList<>();
  private final KvServer server;
  private final String told;
  private final AtomicLong turns = new AtomicLong();

  /// A space of the node.
  private static final class Served {
    final BenchBlocks made;
    final BlockTier tier;
    final AtomicLong fresh;

    Served(BenchBlocks made, Shape shape, WireShape wire) {
      this.made = made;
      this.tier = new HostTier(made.space(), shape.keys,
          StackOptions.defaults("dram").withIngressBlocks(wire.ingressBlocks()), TierListener.noop());
      made.fill(tier, shape.keys);
      this.fresh = new AtomicLong(shape.keys);
    }

    void close() {
      BenchWait.end(tier.close());
    }
  }

  GrownPair(Shape shape, LoopResources loops) {
    this.shape = shape;
    this.loops = loops;
    this.wire = WireShape.of(shape.blockBytes);
    for (int i = 0; i < shape.spaces; i++) {
      served.add(new Served(new BenchBlocks("bench-" + i, shape.blockBytes, shape.layers), shape, wire));
    }
    BlockLayout layout = served.getFirst().made.space().layout();
    this.landed = new SlabArena("landed", layout, wire.slots(UNDER_WAY, shape.batch), WAITERS);
    this.toPut = new SlabArena("to put", layout, UNDER_WAY * shape.batch, WAITERS);
    KvServerOptions options = KvServerOptions.builder().node("bench").limits(wire.limits())
        .putBlocks(wire.ingressBlocks()).build();
    this.server = BenchWait.of(KvServer.bind(BenchTransport.loopbackServer(loops),
        NodeSpaces.of(served.stream().map(space -> space.tier).toList()), options,
        new ByteBudget("growth-node", BUDGET_BYTES, WAITERS), timers, Schedulers.immediate()));
    this.told = BenchTransport.told(server.listening(), "");
    for (int i = 0; i < shape.connections; i++) {
      clients.add(BenchWait.of(connected(served.get(i % served.size()))));
    }
  }

  private Mono<KvClient> connected(Served space) {
    KvClientOptions options = KvClientOptions.builder().name("bench").maxSliceBytes(WireShape.SLICE_BYTES)
        .windowBlocks(wire.windowBlocks()).build();
    return KvClient.connect(BenchTransport.TCP.client("127.0.0.1", told, SocketTuning.defaults(), loops), options,
        space.made.space(), landed, clientBudget);
  }

  /// Requests without end, four under way. The units are blocks.
  Load load(Direction direction) {
    return new RequestLoad(UNDER_WAY, () -> request(direction), () -> {});
  }

  private Mono<Long> request(Direction direction) {
    long turn = turns.getAndIncrement();
    if (shape.connections == 0) {
      Served space = served.get((int) (turn % served.size()));
      return Mono.usingWhen(connected(space), client -> request(client, space, direction, turn / served.size()),
          KvClient::close);
    }
    int at = (int) (turn % clients.size());
    return request(clients.get(at), served.get(at % served.size()), direction, turn);
  }

  private Mono<Long> request(KvClient client, Served space, Direction direction, long turn) {
    return (direction == Direction.GET ? get(client, space, turn) : put(client, space)).doOnNext(this::requireAll);
  }

  private void requireAll(long blocks) {
    if (blocks != shape.batch) {
      throw new IllegalStateException("blocks of a request must be " + shape.batch + " (was " + blocks + ")");
    }
  }

  /// Gets by turns of blocks that lie evenly among those that are held.
  private Mono<Long> get(KvClient client, Served space, long turn) {
    long read = (long) Math.min(READ_BLOCKS, shape.keys) / shape.batch * shape.batch;
    long stride = shape.keys / Math.max(read, 1);
    List<BlockKey> keys = new ArrayList<>(shape.batch);
    for (int i = 0; i < shape.batch; i++) {
      long number = (turn * shape.batch + i) % read * stride;
      keys.addAll(space.made.keys(number, number + 1));
    }
    return Flux.using(BlockScope::new, scope -> client.lease(keys, OnMiss.SKIP, scope)
        .flatMapMany(lease -> lease.windows(keys.size(), scope)), BlockScope::close)
        .concatMapIterable(blocks -> blocks).reduce(0L, (blocks, leased) -> {
          leased.block().close();
          return blocks + 1;
        });
  }

  /// A put of blocks that the node does not have: those that were put first leave it.
  private Mono<Long> put(KvClient client, Served space) {
    return Mono.using(() -> made(space), blocks -> client
        .put(blocks.stream().map(Block::key).toList(), PutSource.of(blocks, SliceShape.Order.LAYER_FIRST)).count(),
        blocks -> blocks.forEach(Block::close));
  }

  private List<Block> made(Served space) {
    long number = space.fresh.getAndAdd(shape.batch);
    GranuleRange all = GranuleRange.all(space.made.space().layout());
    List<Block> blocks = new ArrayList<>(shape.batch);
    for (BlockDraft draft : Objects.requireNonNull(
        toPut.tryClaim(space.made.keys(number, number + shape.batch)), "the arena has room for all")) {
      draft.write(all, memory -> space.made.write(draft.key(), all, memory));
      draft.produced(all);
      blocks.add(draft.seal());
    }
    return blocks;
  }

  @Override
  public void close() {
    clients.forEach(client -> BenchWait.end(client.close()));
    BenchWait.end(server.close());
    served.forEach(Served::close);
    landed.close();
    toPut.close();
    timers.dispose();
  }
}
