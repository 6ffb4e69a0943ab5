package io.penstock.wire;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.carrier.MemoryProbe;
import io.penstock.stack.shape.StackOptions;
import io.penstock.system.NativeMemory;
import io.penstock.testkit.Eventually;
import io.penstock.tier.OnMiss;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.link.ClientCarriers;
import io.penstock.wire.protocol.Carrier;
import io.penstock.wire.protocol.ControlCodec;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.Handshake;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.protocol.WireFailure.CarrierUnavailableException;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.transport.ConnectionGauges;
import io.rsocket.DuplexConnection;
import io.rsocket.Payload;
import io.rsocket.RSocket;
import io.rsocket.RSocketErrorException;
import io.rsocket.transport.ClientTransport;
import java.lang.foreign.MemorySegment;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Signal;
import reactor.test.scheduler.VirtualTimeScheduler;

/// Slices whose bytes stay where they are: what crosses the connection, how long blocks are kept, and who is refused.
@Timeout(60)
final class SharedMemoryTest {
  private static final BlockLayout LAYOUT = BlockLayout.attention(4, 16, 2, 16, ElementType.BF16);
  private static final CacheSpace SPACE = CacheSpace.of("shared", LAYOUT);
  private static final int WINDOW = 4;

  @BeforeAll
  static void aSystemWithNativeCalls() {
    assumeTrue(NativeMemory.absence().isEmpty());
  }

  private static WireNode node() {
    return WireNode.of(Link.SHARED_MEMORY, SPACE, WINDOW);
  }

  private static void await(BooleanSupplier condition) {
    Eventually.holds("the condition holds", condition::getAsBoolean);
  }

  @Test
  void slices_crossTheConnectionAsReferences_bothWays() {
    try (WireNode node = node()) {
      Counted counted = new Counted(node.transport());
      KvClient client = node.client(counted, WireNode.clientOptions(WINDOW), node.arena(128), node.budget(64));
      assertThat(client.outgoingCarrier()).isEqualTo(Carrier.SHARED_MEMORY);
      assertThat(client.incomingCarrier()).isEqualTo(Carrier.SHARED_MEMORY);
      long before = counted.bytes.get();
      List<BlockKey> keys = node.stored(client, 40);
      assertThat(node.get(client, keys, OnMiss.SKIP).block(WireNode.PATIENCE)).isEqualTo(40L * LAYOUT.blockBytes());
      assertThat(counted.bytes.get() - before).isLessThan(2 * 40L * LAYOUT.blockBytes() / 4);
    }
  }

  /// The node leaves the comparison to the reader of its memory, who tells it what differs.
  @Test
  @SuppressWarnings("restricted") // damages memory behind the back of its owner
  void aDamagedBlock_isFoundByItsReader_andLeavesTheNode() {
    try (WireNode node = node(); BlockScope scope = new BlockScope()) {
      KvClient client = node.client(WINDOW);
      List<BlockKey> keys = node.stored(client, 6);
      Block block = requireNonNull(node.tier.get(keys.subList(3, 4), scope).blockLast(WireNode.PATIENCE));
      block.read(memory -> MemorySegment.ofAddress(memory.address()).reinterpret(1).fill((byte) 99));
      block.close();
      assertThatThrownBy(() -> node.get(client, keys, OnMiss.SKIP).block(WireNode.PATIENCE))
          .isInstanceOfSatisfying(BlockCorruptException.class, e -> assertThat(e.key()).isEqualTo(keys.get(3)));
      await(() -> requireNonNull(node.tier.stat().block()).corrupt() == 1);
      assertThat(node.get(client, keys, OnMiss.SKIP).block(WireNode.PATIENCE)).isEqualTo(5L * LAYOUT.blockBytes());
    }
  }

  @Test
  void blocksInOtherMemory_crossItAsBytes_onTheSameConnection() {
    try (SlabArena other = new SlabArena("other", LAYOUT, 1, 1, ChunkSource.shared("other"));
        SlabArena plain = new SlabArena("plain", LAYOUT, 16, 16, ChunkSource.ofSystem());
        WireNode node = node()) {
      assertThat(other.allocatedBytes()).isZero();
      KvClient client = node.client(WireNode.clientOptions(WINDOW), plain, node.budget(8));
      assertThat(client.incomingCarrier()).isEqualTo(Carrier.SHARED_MEMORY);
      List<BlockKey> keys = node.stored(client, 10);
      assertThat(node.get(client, keys, OnMiss.SKIP).block(WireNode.PATIENCE)).isEqualTo(10L * LAYOUT.blockBytes());
    }
  }

  @Test
  void aPinnedCarrier_isAgreedOn_orNamesThoseAvailable() {
    KvServerOptions inline = KvServerOptions.builder().limits(new Limits(WireNode.SLICE_BYTES, WINDOW, 256))
        .carriers(List.of(Carrier.INLINE)).build();
    KvClientOptions pinned = WireNode.asking(WINDOW).carriers(Carrier.SHARED_MEMORY).build();
    try (WireNode node = node()) {
      assertThat(node.client(pinned, node.arena(8), node.budget(8)).incomingCarrier())
          .isEqualTo(Carrier.SHARED_MEMORY);
      KvClientOptions bytes = WireNode.asking(WINDOW).carriers(Carrier.INLINE).build();
      KvClient client = node.client(bytes, node.arena(8), node.budget(8));
      assertThat(client.incomingCarrier()).isEqualTo(Carrier.INLINE);
      assertThat(client.outgoingCarrier()).isEqualTo(Carrier.INLINE);
    }
    try (WireNode node = new WireNode(Link.SHARED_MEMORY, SPACE, 64,
        StackOptions.defaults("dram").withIngressBlocks(16), inline, 8 * WireNode.SLICE_BYTES,
        VirtualTimeScheduler.create())) {
      CarrierUnavailableException e = catchThrowableOfType(CarrierUnavailableException.class,
          () -> node.client(pinned, node.arena(8), node.budget(8)));
      assertThat(e).hasMessage("carrier must be one of [inline], which are available (was [shared-memory]: shared "
          + "memory is for processes of the node's user, over its Unix domain socket, if the node "
          + "has memory to share)");
      assertThat(e.available()).containsExactly(Carrier.INLINE);
      KvClient either = node.client(WINDOW);
      assertThat(either.incomingCarrier()).isEqualTo(Carrier.INLINE);
      node.stored(either, 4);
    }
  }

  /// A client that reads references and says what it likes.
  private static final class Reader implements AutoCloseable {
    final BlockingQueue<Signal<Integer>> signals = new LinkedBlockingQueue<>();
    private final RSocket socket;
    private final Disposable stream;

    Reader(WireNode node, List<BlockKey> keys, int windowBlocks) {
      this.socket = node.raw("application/cbor");
      Handshake.CarrierOffer mine = Handshake.CarrierOffer.of(MemoryProbe.ofClient(), null, null);
      Handshake.Welcome welcome = WireNode.read(ControlCodec.CBOR,
          requireNonNull(socket.requestResponse(WireNode.request(ControlCodec.CBOR, Routes.HELLO,
              new Handshake.Hello(List.of(1), null, "raw", List.of(mine)))).block(WireNode.PATIENCE)),
          Handshake.Welcome.class);
      byte[] proof = requireNonNull(Handshake.CarrierOffer.sharedMemory(welcome.carriers())).readOfNode();
      this.stream = socket.requestStream(get(keys, windowBlocks, proof)).map(payload -> {
        int bytes = payload.sliceData().readableBytes();
        payload.release();
        return bytes;
      }).materialize().subscribe(signals::add);
    }

    static Payload get(List<BlockKey> keys, int windowBlocks, byte[] proof) {
      return WireNode.request(ControlCodec.CBOR, Routes.GET, new Messages.GetRequest(Messages.Keys.of(keys), "SKIP",
          "LAYER_FIRST", 0, WireNode.SLICE_BYTES, windowBlocks, 7, null, proof, null));
    }

    void landed(long ticket, int window) {
      socket.fireAndForget(
          WireNode.request(ControlCodec.CBOR, Routes.LANDED, new Messages.Landed(ticket, window)))
          .block(WireNode.PATIENCE);
    }

    /// Payloads that came, all but the first of them slices.
    void await(int count) {
      SharedMemoryTest.await(() -> signals.size() == count);
    }

    @Override
    public void close() {
      stream.dispose();
    }
  }

  @Test
  void blocks_areKeptUntilTheReceiverHasLandedTheirWindow() throws InterruptedException {
    try (WireNode node = node()) {
      List<BlockKey> keys = node.stored(node.client(WINDOW), 2 * WINDOW);
      int slices = 2 * WINDOW * LAYOUT.blockBytes() / WireNode.SLICE_BYTES;
      try (Reader reader = new Reader(node, keys, WINDOW)) {
        reader.await(1 + slices);
        node.tier.remove(keys).block(WireNode.PATIENCE);
        assertThat(node.tier.arena().claimedSlots()).isEqualTo(2 * WINDOW);
        reader.landed(8, 5); // another stream
        reader.landed(7, 0);
        await(() -> node.tier.arena().claimedSlots() == WINDOW);
        assertThat(reader.signals).as("not complete before all has landed").hasSize(1 + slices);
        reader.landed(7, 1);
        reader.await(2 + slices);
        assertThat(node.tier.arena().claimedSlots()).isZero();
        for (int i = 0; i < 1 + slices; i++) {
          assertThat(requireNonNull(reader.signals.poll(1, TimeUnit.SECONDS)).get()).isLessThan(1024);
        }
        assertThat(requireNonNull(reader.signals.poll()).isOnComplete()).isTrue();
      }
    }
  }

  @Test
  void blocks_areFreeAtOnce_whenTheReceiverCancelsOrGoes() {
    try (WireNode node = node()) {
      KvClient client = node.client(WINDOW);
      for (boolean cancels : new boolean[] {true, false}) {
        List<BlockKey> keys = node.stored(client, WINDOW);
        try (Reader reader = new Reader(node, keys, WINDOW)) {
          reader.await(1 + WINDOW * LAYOUT.blockBytes() / WireNode.SLICE_BYTES);
          node.tier.remove(keys).block(WireNode.PATIENCE);
          assertThat(node.tier.arena().claimedSlots()).isEqualTo(WINDOW);
          if (cancels) {
            reader.stream.dispose();
          } else {
            reader.socket.dispose();
          }
          await(() -> node.tier.arena().claimedSlots() == 0);
        }
        await(() -> node.server.runningStreams() == 0);
      }
    }
  }

  @Test
  void aReceiverThatNeverSaysThatItLanded_isEndedAfterTheStallTime() {
    VirtualTimeScheduler time = VirtualTimeScheduler.create();
    try (WireNode node = new WireNode(Link.SHARED_MEMORY, SPACE, 64,
        StackOptions.defaults("dram").withIngressBlocks(16), WireNode.options(WINDOW), 8 * WireNode.SLICE_BYTES,
        time)) {
      List<BlockKey> keys = node.stored(node.client(WINDOW), WINDOW);
      int slices = WINDOW * LAYOUT.blockBytes() / WireNode.SLICE_BYTES;
      try (Reader reader = new Reader(node, keys, WINDOW)) {
        reader.await(1 + slices);
        node.tier.remove(keys).block(WireNode.PATIENCE);
        await(() -> {
          time.advanceTimeBy(Duration.ofSeconds(20));
          return reader.signals.size() == 2 + slices;
        });
        await(() -> node.tier.arena().claimedSlots() == 0);
        Signal<Integer> last = List.copyOf(reader.signals).getLast();
        assertThat(((RSocketErrorException) requireNonNull(last.getThrowable())).errorCode())
            .isEqualTo(ErrorCode.AWAIT_TIMEOUT.code());
      }
    }
  }

  @Test
  void references_areNotSentToAClientThatHasNotReadTheNodesMemory() {
    try (WireNode node = node()) {
      List<BlockKey> keys = node.stored(node.client(WINDOW), 1);
      RSocket socket = node.raw("application/cbor");
      for (byte[] proof : List.of(new byte[16], new byte[0], new byte[1000])) {
        assertThatThrownBy(
            () -> socket.requestStream(Reader.get(keys, WINDOW, proof)).then().block(WireNode.PATIENCE))
            .isInstanceOfSatisfying(RSocketErrorException.class,
                e -> assertThat(e.errorCode()).isEqualTo(ErrorCode.BAD_REQUEST.code()))
            .hasMessageContaining("proof must be what stands in the node's memory (was something else)");
      }
      MemoryProbe client = MemoryProbe.ofClient();
      byte[] another = MemoryProbe.readOfClient(client.process(), client.descriptor());
      assertThatThrownBy(
          () -> socket.requestStream(Reader.get(keys, WINDOW, another)).then().block(WireNode.PATIENCE))
          .hasMessageContaining("proof must be");
    }
  }

  @Test
  void anOfferThatIsNoMemoryOfAClient_isRefusedWithAReason_andTheConnectionGoesOn() {
    try (WireNode node = node()) {
      RSocket socket = node.raw("application/cbor");
      long me = ProcessHandle.current().pid();
      for (Handshake.CarrierOffer offer : List.of(
          new Handshake.CarrierOffer("shared-memory", me, 0, null, null),
          new Handshake.CarrierOffer("shared-memory", -1L, 3, null, null),
          new Handshake.CarrierOffer("shared-memory", me, MemoryProbe.ofNode().descriptor(), null, null),
          new Handshake.CarrierOffer("shared-memory", null, null, null, "no memory"))) {
        Handshake.CarrierOffer answer = requireNonNull(hello(socket, offer));
        assertRefused(answer);
      }
      assertThat(hello(socket, new Handshake.CarrierOffer("smoke-signals", me, 0, null, null))).isNull();
    }
  }

  private static void assertRefused(Handshake.CarrierOffer answer) {
    assertThat(answer).isEqualTo(Handshake.CarrierOffer.none("shared memory is for processes of the node's user, "
        + "over its Unix domain socket, if the node has memory to share"));
  }

  /// A stranger on another host learns the same of each process and descriptor.
  @Test
  void offersOverTcp_areRefusedInOneSentence_whateverTheyName() {
    try (WireNode node = WireNode.of(Link.PENSTOCK, SPACE, WINDOW); WireNode other = node()) {
      other.stored(other.client(WINDOW), 1); // this process has blocks to share
      RSocket socket = node.raw("application/cbor");
      MemoryProbe probe = MemoryProbe.ofClient();
      for (long process : new long[] {1, 2, probe.process(), Integer.MAX_VALUE, -1}) {
        for (int descriptor : new int[] {0, 3, probe.descriptor(), MemoryProbe.ofNode().descriptor(), 100_000}) {
          assertRefused(requireNonNull(hello(socket,
              new Handshake.CarrierOffer("shared-memory", process, descriptor, null, null))));
        }
      }
      KvClientOptions pinned = WireNode.asking(WINDOW).carriers(Carrier.SHARED_MEMORY).build();
      assertThatThrownBy(() -> node.client(pinned, node.arena(8), node.budget(8)))
          .isInstanceOf(CarrierUnavailableException.class)
          .hasMessageContaining("the node must be reached over its Unix domain socket");
    }
  }

  @Test
  void aNodeThatHasNotReadTheClient_mayBeAnotherThanTheOneThatWasRead_andSendsBytes() {
    MemoryProbe node = MemoryProbe.ofNode();
    for (byte[] proof : new byte[][] {null, new byte[16]}) {
      Handshake.Welcome welcome = new Handshake.Welcome(1, "1", "n", "dram", Handshake.Space.of(SPACE),
          WireNode.SLICE_BYTES, WINDOW, 256, null, null, List.of(Handshake.CarrierOffer.of(node, proof, null)), null,
          null, null, null);
      try (ClientCarriers agreed =
          ClientCarriers.agreed(List.of(Carrier.SHARED_MEMORY, Carrier.INLINE), node.process(), welcome.carriers())) {
        assertThat(agreed.incoming()).isEqualTo(Carrier.INLINE);
        assertThat(agreed.outgoing()).isEqualTo(Carrier.INLINE);
        assertThat(agreed.proof()).isNull();
      }
    }
  }

  private static Handshake.CarrierOffer hello(RSocket socket, Handshake.CarrierOffer offer) {
    Handshake.Welcome welcome = WireNode.read(ControlCodec.CBOR,
        requireNonNull(socket.requestResponse(WireNode.request(ControlCodec.CBOR, Routes.HELLO,
            new Handshake.Hello(List.of(1), null, "raw", List.of(offer)))).block(WireNode.PATIENCE)),
        Handshake.Welcome.class);
    return Handshake.CarrierOffer.sharedMemory(welcome.carriers());
  }

  /// A transport that counts what crosses it.
  private record Counted(ClientTransport transport, AtomicLong bytes) implements ClientTransport {
    Counted(ClientTransport transport) {
      this(transport, new AtomicLong());
    }

    @Override
    public Mono<DuplexConnection> connect() {
      return transport.connect().map(connection -> new CountedConnection(connection, bytes));
    }

    @Override
    public int maxFrameLength() {
      return transport.maxFrameLength();
    }
  }

  private record CountedConnection(DuplexConnection connection, AtomicLong bytes)
      implements
        DuplexConnection,
        ConnectionGauges {
    @Override
    public String peer() {
      return gauges().peer();
    }

    private ConnectionGauges gauges() {
      return (ConnectionGauges) connection;
    }

    @Override
    public long peerProcess() {
      return gauges().peerProcess();
    }

    @Override
    public long queuedBytes() {
      return gauges().queuedBytes();
    }

    @Override
    public int queuedFrames() {
      return gauges().queuedFrames();
    }

    @Override
    public long peakQueuedBytes() {
      return gauges().peakQueuedBytes();
    }

    @Override
    public long channelBytes() {
      return gauges().channelBytes();
    }

    @Override
    public long writtenBytes() {
      return gauges().writtenBytes();
    }

    @Override
    public long readBytes() {
      return gauges().readBytes();
    }

    @Override
    public Flux<ByteBuf> receive() {
      return connection.receive().doOnNext(frame -> bytes.addAndGet(frame.readableBytes()));
    }

    @Override
    public void sendFrame(int streamId, ByteBuf frame) {
      bytes.addAndGet(frame.readableBytes());
      connection.sendFrame(streamId, frame);
    }

    @Override
    public void sendErrorAndClose(RSocketErrorException error) {
      connection.sendErrorAndClose(error);
    }

    @Override
    public ByteBufAllocator alloc() {
      return connection.alloc();
    }

    @Override
    public SocketAddress remoteAddress() {
      return connection.remoteAddress();
    }

    @Override
    public Mono<Void> onClose() {
      return connection.onClose();
    }

    @Override
    public void dispose() {
      connection.dispose();
    }

    @Override
    public boolean isDisposed() {
      return connection.isDisposed();
    }
  }
}
