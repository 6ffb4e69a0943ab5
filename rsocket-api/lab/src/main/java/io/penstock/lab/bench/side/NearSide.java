package io.penstock.lab.bench.side;

import io.netty.buffer.Unpooled;
import io.netty.util.NettyRuntime;
import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.GranuleRange;
import io.penstock.block.SlabArena;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.OnMiss;
import io.penstock.tier.PutSource;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.report.CarriedBytes;
import io.penstock.wire.transport.SocketTuning;
import io.rsocket.RSocket;
import io.rsocket.core.RSocketConnector;
import io.rsocket.frame.decoder.PayloadDecoder;
import io.rsocket.transport.ClientTransport;
import io.rsocket.util.ByteBufPayload;
import java.lang.foreign.ValueLayout;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.resources.LoopResources;

/// The near side of a bench: makes the loads, each with connections of its own to the far side.
public final class NearSide implements AutoCloseable {
  /// Keys that look-ups ask for.
  public static final int LOOKED_UP_BLOCKS = 4096;
  private static final int LOOKED_UP_BYTES = 4096;
  private static final int WAITERS = 4096;

  private final SideSetting setting;
  private final FarLink far;
  private final LoopResources loops;
  private final RawStream.Memory bytes;

  public NearSide(SideSetting setting, FarLink far) {
    this.setting = setting;
    this.far = far;
    this.loops = LoopResources.create("penstock-near",
        Math.clamp(setting.connections(), 1, NettyRuntime.availableProcessors()), true);
    this.bytes = new RawStream.Memory(setting.sourceBytes(), 5);
  }

  public long farCpuNanos() {
    return far.cpuNanos();
  }

  /// Ends the listeners that the far side opened for the loads so far.
  public void endFar() {
    far.end();
  }

  private String listening(FarOrder order) {
    return far.ask(order).address();
  }

  private ClientTransport client(String told) {
    return client(setting.transport(), told);
  }

  private ClientTransport client(BenchTransport transport, String told) {
    return transport.client(far.host(), told, SocketTuning.defaults().withCongestion(setting.congestion()), loops);
  }

  private String node(BenchTransport transport, int blockBytes, int layers, int blocks, boolean filled) {
    return listening(new FarOrder(FarOrder.Verb.NODE, transport, setting.congestion(), blockBytes, layers, blocks,
        filled, MemoryKind.HOST));
  }

  private String listening(FarOrder.Verb verb) {
    return listening(FarOrder.listen(verb, setting.transport(), setting.congestion()));
  }

  /// Bytes one way without RSocket.
  public Load raw(int payloadBytes, boolean receives, boolean sends) {
    SocketAddress remote = setting.transport().bare().remote(far.host(), listening(FarOrder.Verb.RAW));
    return new RawLoad(remote, setting.congestion(), loops, bytes.bytes(), payloadBytes, setting.connections(),
        receives, sends);
  }

  /// Batches of `batch` reads or writes of `blockBytes` each; the units are bytes.
  public TransferLoad transfers(int blockBytes, int batch, TransferDirection direction, MemoryKind kind) {
    String told = listening(FarOrder.segments(setting.transport(), setting.congestion(), kind));
    return new TransferLoad(setting, new TransferLoad.Shape(blockBytes, batch, direction, kind), () -> client(told));
  }

  /// Plain requests, each for an answer of `answerBytes`; the units are answers.
  ///
  /// @param isAwake whether the threads of both sides stay awake between two requests, as those of a node do
  public Load plain(int answerBytes, int underWay, boolean isAwake) {
    FarOrder.Verb verb = isAwake ? FarOrder.Verb.PLAIN_AWAKE : FarOrder.Verb.PLAIN;
    ClientTransport client = setting.transport().client(far.host(), listening(verb),
        FarOrder.tuning(verb, setting.congestion()), loops);
    RSocket socket =
        BenchWait.of(RSocketConnector.create().payloadDecoder(PayloadDecoder.ZERO_COPY).connect(client));
    return new RequestLoad(underWay,
        () -> socket.requestResponse(ByteBufPayload.create(Unpooled.directBuffer(Integer.BYTES).writeInt(answerBytes)))
            .map(answer -> {
              answer.release();
              return 1L;
            }),
        socket::dispose);
  }

  /// Gets of `batch` blocks, or puts of blocks that this side has in memory and the node does not have; the units are
  /// bytes.
  public Load blocks(int blockBytes, int batch, Direction direction) {
    return blocks(setting.transport(), blockBytes, batch, direction);
  }

  /// Such a load over another transport.
  public Load blocks(BenchTransport transport, int blockBytes, int batch, Direction direction) {
    BenchBlocks made = new BenchBlocks(blockBytes, setting.layers());
    int batches = Math.max(2 * setting.threads(), (int) (setting.sourceBytes() / blockBytes / batch));
    String node = node(transport, blockBytes, setting.layers(), batches * batch, direction == Direction.GET);
    // Each put finds the node without its keys: between two puts of a key all other keys are put, twice the node's
    // capacity
    int lists = direction == Direction.GET ? batches : 2 * batches + 1;
    List<List<BlockKey>> keys = new ArrayList<>(lists);
    for (int i = 0; i < lists; i++) {
      keys.add(made.keys((long) i * batch, (long) (i + 1) * batch));
    }
    AtomicLong next = new AtomicLong();
    BlocksToPut blocks = direction == Direction.GET ? null : new BlocksToPut(made, keys, transport.chunks());
    Clients clients = new Clients(transport, made, node, setting.threads(), batch);
    return new RequestLoad(setting.threads(), () -> {
      int turn = (int) (next.getAndIncrement() % lists);
      return blocks == null ? clients.get(keys.get(turn)) : clients.put(keys.get(turn), blocks.source(turn));
    }, clients::carriedBy, () -> {
      clients.close();
      if (blocks != null) {
        blocks.close();
      }
    });
  }

  /// Look-ups of `batch` keys that the node has; the units are keys.
  public Load lookUps(int batch, int underWay) {
    BenchBlocks made = new BenchBlocks(LOOKED_UP_BYTES, 1);
    String node = node(setting.transport(), LOOKED_UP_BYTES, 1, LOOKED_UP_BLOCKS, true);
    List<List<BlockKey>> keys = new ArrayList<>();
    for (int from = 0; from + batch <= LOOKED_UP_BLOCKS; from += batch) {
      keys.add(made.keys(from, from + batch));
    }
    AtomicLong next = new AtomicLong();
    Clients clients = new Clients(setting.transport(), made, node, 1, 1);
    return new RequestLoad(underWay,
        () -> clients.lookUp(keys.get((int) (next.getAndIncrement() % keys.size()))), clients::close);
  }

  /// Blocks of `blockBytes` in the memory of the node, one at a time: leased, and the first granule of each verified
  /// and read. The units are blocks.
  public Load borrowed(int blockBytes, int layers) {
    BenchBlocks made = new BenchBlocks(blockBytes, layers);
    int blocks = Math.max(2, (int) (setting.sourceBytes() / blockBytes));
    String node = node(setting.transport(), blockBytes, layers, blocks, true);
    List<BlockKey> keys = made.keys(0, blocks);
    AtomicLong next = new AtomicLong();
    Clients clients = new Clients(setting.transport(), made, node, 1, 1);
    return new RequestLoad(1, () -> clients.borrow(keys.get((int) (next.getAndIncrement() % blocks))), clients::close);
  }

  @Override
  public void close() {
    BenchWait.end(loops);
    bytes.close();
  }

  /// Connections of one load, used by turns.
  private final class Clients {
    private final BenchBlocks made;
    private final SlabArena arena;
    private final List<KvClient> clients = new ArrayList<>();
    private final AtomicLong turns = new AtomicLong();

    Clients(BenchTransport transport, BenchBlocks made, String node, int requests, int batch) {
      this.made = made;
      int blockBytes = made.space().layout().blockBytes();
      WireShape shape = WireShape.of(blockBytes);
      int slots = shape.slots(requests, batch);
      this.arena = new SlabArena("landed", made.space().layout(), slots, WAITERS);
      ByteBudget budget = new ByteBudget("bench", WireShape.BUDGET_BYTES, WAITERS);
      KvClientOptions options = KvClientOptions.builder().name("bench").maxSliceBytes(WireShape.SLICE_BYTES)
          .windowBlocks(shape.windowBlocks())
          .carriers(transport.carrier()).ring(setting.spin()).build();
      for (int i = 0; i < setting.connections(); i++) {
        clients.add(BenchWait.of(KvClient.connect(client(transport, node), options, made.space(), arena, budget)));
      }
    }

    private KvClient next() {
      return clients.get((int) (turns.getAndIncrement() % clients.size()));
    }

    Mono<Long> get(List<BlockKey> keys) {
      KvClient client = next();
      return Flux.using(BlockScope::new, scope -> client.lease(keys, OnMiss.SKIP, scope)
          .flatMapMany(lease -> lease.windows(keys.size(), scope)), BlockScope::close)
          .concatMapIterable(blocks -> blocks).reduce(0L, (bytes, leased) -> {
            try (Block block = leased.block()) {
              if (setting.verify() && !made.isRight(block)) {
                throw new WrongBytesException(block.key());
              }
              return bytes + block.layout().blockBytes();
            }
          }).doOnNext(bytes -> requireAll(bytes, keys.size()));
    }

    Mono<Long> borrow(BlockKey key) {
      GranuleRange first = GranuleRange.whole(0, 1);
      return Mono.using(BlockScope::new, scope -> next().borrow(key, scope).map(block -> {
        long stamp = block.read(first, memory -> memory.get(ValueLayout.JAVA_LONG_UNALIGNED, 0));
        if (stamp != key.hash().high()) {
          throw new WrongBytesException(key);
        }
        return 1L;
      }).switchIfEmpty(Mono.error(() -> new IllegalStateException("block is missing (" + key + ")"))),
          BlockScope::close);
    }

    Mono<Long> put(List<BlockKey> keys, PutSource source) {
      int blockBytes = made.space().layout().blockBytes();
      return next().put(keys, source).count().map(blocks -> blocks * blockBytes)
          .doOnNext(bytes -> requireAll(bytes, keys.size()));
    }

    private void requireAll(long bytes, int blocks) {
      long wanted = (long) blocks * made.space().layout().blockBytes();
      if (bytes != wanted) {
        throw new IllegalStateException("bytes of a request must be " + wanted + " (was " + bytes + ")");
      }
    }

    /// Carriers of blocks, each with the transport of its frames.
    List<String> carriedBy() {
      Set<String> words = new TreeSet<>();
      for (KvClient client : clients) {
        CarriedBytes carried = client.carried();
        carried.in().keySet().forEach(carrier -> words.add(carrier.label() + " over " + client.transport()));
        carried.out().keySet().forEach(carrier -> words.add(carrier.label() + " over " + client.transport()));
      }
      return List.copyOf(words);
    }

    Mono<Long> lookUp(List<BlockKey> keys) {
      return next().contains(keys).map(present -> (long) present.count());
    }

    void close() {
      clients.forEach(client -> BenchWait.end(client.close()));
      arena.close();
    }
  }
}
