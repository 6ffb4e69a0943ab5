package io.penstock.wire;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.flow.ProducingSource;
import io.penstock.stack.HostTier;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.OnMiss;
import io.penstock.tier.PutSource;
import io.penstock.tier.Receipt;
import io.penstock.tier.TierListener;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.protocol.ControlCodec;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.protocol.RequestMetadata;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.rsocket.Payload;
import io.rsocket.RSocket;
import io.rsocket.core.RSocketConnector;
import io.rsocket.frame.decoder.PayloadDecoder;
import io.rsocket.transport.ClientTransport;
import io.rsocket.util.ByteBufPayload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// A node over loopback sockets and its clients, with all memory and every budget watched.
public final class WireNode implements AutoCloseable {
  public static final Duration PATIENCE = Duration.ofSeconds(20);
  public static final int SLICE_BYTES = 4096;

  final CacheSpace space;
  final LeakLedger leaks = new LeakLedger();
  public final HostTier tier;
  final ByteBudget ingress;
  final KvServer server;
  private final LinkEnds link;
  private final Scheduler timers;
  private final List<KvClient> clients = new ArrayList<>();
  private final List<Supplier<String>> watched = new ArrayList<>();
  private final List<RSocket> sockets = new ArrayList<>();

  public WireNode(LinkEnds link, CacheSpace space, long capacityBlocks, StackOptions tierOptions,
      KvServerOptions options,
      long ingressBytes,
      Scheduler timers) {
    this.link = link;
    this.space = space;
    this.timers = timers;
    this.tier = new HostTier(space, capacityBlocks, tierOptions, TierListener.noop(), link.chunks());
    this.ingress = leaks.watch(new ByteBudget("ingress", ingressBytes, 64));
    this.server = requireNonNull(KvServer.bind(link.server(0), tier, options, ingress, timers).block(PATIENCE));
  }

  /// 64 blocks, windows of `windowBlocks`, slices of 4 KiB, an ingress budget of eight.
  static WireNode of(LinkEnds link, CacheSpace space, int windowBlocks) {
    return new WireNode(link, space, 64, StackOptions.defaults("dram").withIngressBlocks(4 * windowBlocks),
        options(windowBlocks),
        8 * SLICE_BYTES, Schedulers.newSingle("timers", true));
  }

  public static KvServerOptions options(int windowBlocks) {
    return KvServerOptions.defaults().withLimits(new Limits(SLICE_BYTES, windowBlocks, 256))
        .withSendWindowBytes(4 * SLICE_BYTES);
  }

  static KvClientOptions clientOptions(int windowBlocks) {
    return asking(windowBlocks).build();
  }

  public static KvClientOptions.Builder asking(int windowBlocks) {
    return KvClientOptions.builder().maxSliceBytes(SLICE_BYTES).windowBlocks(windowBlocks);
  }

  int port() {
    return link.port(server);
  }

  ClientTransport transport() {
    return link.client(port());
  }

  public SlabArena arena(int slots) {
    SlabArena arena = leaks.watch(new SlabArena("client", space.layout(), slots, 64, link.chunks()));
    watched.add(() -> arena.claimedSlots() + " slots of " + slots);
    return arena;
  }

  public ByteBudget budget(int slices) {
    ByteBudget budget = leaks.watch(new ByteBudget("client", (long) slices * SLICE_BYTES, 64));
    watched.add(() -> budget.inUseBytes() + " bytes in flight of " + budget.capacityBytes());
    return budget;
  }

  public KvClient client(KvClientOptions options, SlabArena arena, ByteBudget budget) {
    return client(transport(), options, arena, budget);
  }

  KvClient client(ClientTransport transport, KvClientOptions options, SlabArena arena, ByteBudget budget) {
    KvClient client = requireNonNull(KvClient.connect(transport, options, space, arena, budget).block(PATIENCE));
    clients.add(client);
    return client;
  }

  /// With plenty of memory.
  public KvClient client(int windowBlocks) {
    return client(clientOptions(windowBlocks), arena(128), budget(64));
  }

  /// A client that need not keep to any rule but RSocket's.
  RSocket raw(String dataMimeType) {
    RSocket socket =
        requireNonNull(RSocketConnector.create().payloadDecoder(PayloadDecoder.ZERO_COPY).dataMimeType(dataMimeType)
            .metadataMimeType(RequestMetadata.COMPOSITE).connect(transport()).block(PATIENCE));
    sockets.add(socket);
    return socket;
  }

  public static Payload request(ControlCodec codec, String route, Object message) {
    ByteBuf data = codec.encode(message, ByteBufAllocator.DEFAULT);
    return ByteBufPayload.create(data, RequestMetadata.write(route, ByteBufAllocator.DEFAULT));
  }

  static <T> T read(ControlCodec codec, Payload payload, Class<T> type) {
    try {
      return codec.decode(payload.sliceData(), type);
    } finally {
      payload.release();
    }
  }

  public List<BlockKey> keys(int from, int to) {
    return Blocks.keys(space, from, to);
  }

  /// The first `count` keys, which the node has from now on.
  public List<BlockKey> stored(KvClient client, int count) {
    List<BlockKey> keys = keys(0, count);
    put(client, keys);
    return keys;
  }

  public PutSource source(SlabArena arena, SliceShape.Order order) {
    return new ProducingSource(arena, order,
        (key, range, memory) -> Blocks.fill(key, range.offset(space.layout()), memory));
  }

  List<Receipt> put(KvClient client, List<BlockKey> keys) {
    return requireNonNull(
        client.put(keys, source((SlabArena) client.arena(), SliceShape.Order.LAYER_FIRST)).collectList()
            .block(PATIENCE));
  }

  /// Bytes of the slices of `keys`, each of which is regenerated and compared.
  public Mono<Long> get(KvClient client, List<BlockKey> keys, OnMiss onMiss) {
    return Mono.defer(() -> {
      AtomicLong bytes = new AtomicLong();
      return Flux
          .using(BlockScope::new, scope -> client.lease(keys, onMiss, scope).flatMapMany(lease -> lease.slices(scope))
              .doOnNext(slice -> {
                slice.spans().forEach(Blocks::assertBytes);
                bytes.addAndGet(slice.bytes());
                slice.close();
              }), BlockScope::close)
          .then(Mono.fromSupplier(bytes::get));
    });
  }

  /// Visible blocks are complete and right, and the tier holds nothing else.
  public void requireHonestTier(List<BlockKey> keys) {
    leaks.awaitEmpty(LeakLedger.PATIENCE);
    awaitIdle(); // a cancel may find the node in the midst of a commit
    int visible = requireNonNull(tier.contains(keys).block(PATIENCE)).count();
    try (BlockScope scope = new BlockScope()) {
      List<BlockKey> read = requireNonNull(tier.get(keys, scope).map(block -> {
        Blocks.assertBytes(block);
        block.close();
        return block.key();
      }).collectList().block(PATIENCE));
      if (read.size() != visible) {
        throw new AssertionError("visible blocks must be " + visible + " (was " + read.size() + ")");
      }
    }
  }

  /// Waits until the tier lends no more than its visible blocks.
  public void awaitIdle() {
    long deadline = System.nanoTime() + LeakLedger.PATIENCE.toNanos();
    while (true) {
      var stat = requireNonNull(tier.stat().block(PATIENCE));
      if (stat.claimedBytes() == stat.bytes()) {
        return;
      } else if (System.nanoTime() > deadline) {
        throw new AssertionError(
            "claimed bytes must be the visible " + stat.bytes() + " (was " + stat.claimedBytes() + ")");
      }
      Thread.onSpinWait();
    }
  }

  /// For the message of a failure.
  String state() {
    return server.runningStreams() + " streams run, " + watched.stream().map(Supplier::get).toList() + ", "
        + tier.stat().block();
  }

  @Override
  public void close() {
    clients.forEach(client -> client.close().block(PATIENCE));
    sockets.forEach(RSocket::dispose);
    server.close().block(PATIENCE);
    tier.close().block(PATIENCE);
    timers.dispose();
    leaks.watch("slots of the tier", tier.arena()::claimedSlots);
    leaks.close();
  }
}
