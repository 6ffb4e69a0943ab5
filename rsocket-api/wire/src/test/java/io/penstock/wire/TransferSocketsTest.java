package io.penstock.wire;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.stack.HostTier;
import io.penstock.testkit.Eventually;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.TierListener;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.link.NodeConnection;
import io.penstock.wire.client.segment.SegmentConnector;
import io.penstock.wire.protocol.ControlCodec;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.protocol.RequestMetadata;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.protocol.SegmentMessages;
import io.penstock.wire.protocol.SegmentSlice;
import io.penstock.wire.protocol.WireErrors;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import io.penstock.wire.report.StreamListener;
import io.penstock.wire.security.Access;
import io.penstock.wire.security.AccessRules;
import io.penstock.wire.security.Credentials;
import io.penstock.wire.security.Grant;
import io.penstock.wire.security.Role;
import io.penstock.wire.security.UserFile;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.server.space.NodeSpaces;
import io.penstock.wire.transfer.BlockingTransfers;
import io.penstock.wire.transfer.Notification;
import io.penstock.wire.transfer.RemoteSegment;
import io.penstock.wire.transfer.Segment;
import io.penstock.wire.transfer.SegmentRegistry;
import io.penstock.wire.transfer.StagedMemory;
import io.penstock.wire.transfer.Transfer;
import io.penstock.wire.transfer.TransferBatch;
import io.penstock.wire.transfer.TransferEngine;
import io.penstock.wire.transfer.TransferOptions;
import io.penstock.wire.transfer.TransferState;
import io.rsocket.Payload;
import io.rsocket.RSocket;
import io.rsocket.core.RSocketConnector;
import io.rsocket.frame.decoder.PayloadDecoder;
import io.rsocket.util.ByteBufPayload;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// Transfers over loopback sockets, with all memory, budgets and registrations watched.
@Timeout(120)
final class TransferSocketsTest {
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final int SLICE = 64 << 10;
  private static final int PIECE = 100_000;

  private final LeakLedger leaks = new LeakLedger();
  private final Arena arena = Arena.ofShared();
  private final Scheduler timers = Schedulers.newSingle("timers", true);
  private final SegmentRegistry registry = new SegmentRegistry(11);
  private final MemorySegment remote = arena.allocate(4 << 20);
  private final Segment segment = registry.register("kv", remote);
  private final ByteBudget nodes = leaks.watch(new ByteBudget("node", 64 * SLICE, 64));
  private final ByteBudget own = leaks.watch(new ByteBudget("engine", 64 * SLICE, 64));
  private final Queue<StreamListener.Report> streams = new ConcurrentLinkedQueue<>();
  private final List<Mono<Void>> closing = new ArrayList<>();

  @AfterEach
  void close() {
    closing.reversed().forEach(one -> one.block(PATIENCE));
    registry.unregister(registry.snapshot().segments()).block(PATIENCE);
    leaks.close();
    timers.dispose();
    arena.close();
  }

  private int serve(Link link) {
    return serve(link, NodeSpaces.none());
  }

  private int serve(Link link, NodeSpaces spaces) {
    KvServerOptions options = KvServerOptions.builder().limits(new Limits(SLICE, 4, 16)).streams(streams::add)
        .sendWindowBytes(8L * SLICE).build();
    KvServer server = requireNonNull(
        KvServer.bind(link.server(), spaces, registry, options, nodes, timers, Schedulers.immediate()).block(PATIENCE));
    closing.add(server.close());
    return link.port(server);
  }

  private TransferEngine engine(Link link, int port) {
    return engine(link, port, TransferOptions.defaults());
  }

  private TransferEngine engine(Link link, int port, TransferOptions options) {
    KvClientOptions client = KvClientOptions.builder().maxSliceBytes(SLICE).sendWindowBytes(8L * SLICE)
        .carriers(link.carrier()).build();
    TransferEngine engine = new TransferEngine(options,
        new SegmentConnector(address -> link.client(Integer.parseInt(address)), client, own), timers,
        new SplittableRandom(3));
    closing.add(engine.close());
    assertThat(port).isPositive();
    return engine;
  }

  private static void fill(MemorySegment memory, long salt) {
    for (long i = 0; i < memory.byteSize() / 8; i++) {
      memory.setAtIndex(ValueLayout.JAVA_LONG, i, (i + salt) * 0x9E37_79B9_7F4A_7C15L);
    }
  }

  private static <T> T now(Mono<T> work) {
    return requireNonNull(work.block(PATIENCE));
  }

  @ParameterizedTest
  @EnumSource
  void bytesGoThereAndBack_scatteredAndGathered(Link link) {
    String port = "" + serve(link);
    TransferEngine engine = engine(link, Integer.parseInt(port));
    MemorySegment from = arena.allocate(1 << 20);
    MemorySegment back = arena.allocate(1 << 20);
    fill(from, 5);
    BlockingQueue<String> heard = new LinkedBlockingQueue<>();
    registry.notifications().map(Notification::message).subscribe(heard::add);

    Transfer.BatchResult written = now(engine.submit(TransferBatch.builder()
        .write(port, "kv", 1 << 20, from.asSlice(0, 1000), from.asSlice(1000, 99_000), from.asSlice(100_000))
        .notifying("written").build()).done());

    assertThat(written.isWhole()).as("" + written).isTrue();
    assertThat(heard).containsExactly("written");
    assertThat(remote.asSlice(1 << 20, 1 << 20).mismatch(from)).isEqualTo(-1);
    RemoteSegment handle = now(engine.segments(port)).getFirst();
    assertThat(handle.segment()).isEqualTo(segment);
    Transfer.BatchResult read = now(engine.submit(TransferBatch.builder()
        .read(handle, 1 << 20, back.asSlice(0, 7), back.asSlice(7, 500_000))
        .read(handle, (1 << 20) + 500_007, back.asSlice(500_007)).build()).done());
    assertThat(read.isWhole()).as("" + read).isTrue();
    assertThat(back.mismatch(from)).isEqualTo(-1);
    assertThat(read.bytes()).isEqualTo(1 << 20);
  }

  @ParameterizedTest
  @EnumSource
  void smallItems_shareStreams(Link link) {
    String port = "" + serve(link);
    TransferEngine engine = engine(link, Integer.parseInt(port));
    now(engine.segments(port));
    MemorySegment from = arena.allocate(200 * 4096);
    MemorySegment back = arena.allocate(200 * 4096);
    fill(from, 7);
    TransferBatch.Builder writes = TransferBatch.builder();
    TransferBatch.Builder reads = TransferBatch.builder();
    for (int i = 0; i < 200; i++) { // each somewhere else
      long there = (i * 77L % 200) * 8192;
      writes.write(port, "kv", there, from.asSlice(i * 4096L, 4096));
      reads.read(port, "kv", there, back.asSlice(i * 4096L, 1000), back.asSlice(i * 4096L + 1000, 3096));
    }

    assertThat(now(engine.submit(writes.build()).done()).isWhole()).isTrue();
    assertThat(now(engine.submit(reads.build()).done()).isWhole()).isTrue();

    assertThat(back.mismatch(from)).isEqualTo(-1);
    // the node tells of a stream after it has answered
    Eventually.holds("the node has reported its streams",
        () -> streams.stream().mapToLong(StreamListener.Report::bytes).sum() >= 2 * from.byteSize());
    assertThat(streams).extracting(StreamListener.Report::route).containsOnly("write", "read");
    assertThat(streams).as("16 items fill a slice").hasSizeLessThanOrEqualTo(2 * (200 / 16 + 2));
  }

  /// A batch of which one item names a segment that goes meanwhile: the others complete.
  @Test
  void itemThatIsWrong_spoilsNoGroup() {
    String port = "" + serve(Link.PENSTOCK);
    TransferEngine engine = engine(Link.PENSTOCK, Integer.parseInt(port));
    Segment going = registry.register("going", arena.allocate(4096));
    now(engine.segments(port));
    registry.unregister(going).block(PATIENCE);
    TransferBatch.Builder batch = TransferBatch.builder();
    for (int i = 0; i < 8; i++) {
      batch.read(port, i == 3 ? "going" : "kv", 0, arena.allocate(512));
    }

    Transfer.BatchResult result = now(engine.submit(batch.build()).done());

    assertThat(result.counts()).isEqualTo(Map.of(TransferState.COMPLETED, 7, TransferState.FAILED, 1));
    assertThat(result.firstError()).isInstanceOf(SegmentRegistry.UnknownSegmentException.class);
  }

  @ParameterizedTest
  @EnumSource
  void memoryThatIsStaged_atBothSides(Link link) {
    String port = "" + serve(link);
    TransferEngine engine = engine(link, Integer.parseInt(port));
    StagedDouble there = new StagedDouble(arena, timers, 1 << 20, 300_000);
    StagedDouble here = new StagedDouble(arena, timers, 1 << 20, 200_000);
    Segment device = registry.register("device", there);
    fill(here.device, 3);
    RemoteSegment handle = now(engine.segments(port)).stream().filter(one -> one.segment().equals(device)).findFirst()
        .orElseThrow();
    TransferBatch.Builder writes = TransferBatch.builder();
    TransferBatch.Builder reads = TransferBatch.builder();
    for (long at = 0; at < 1 << 20; at += 1 << 16) { // large ones, and small ones beside host memory
      writes.write(handle, at, new TransferBatch.Staged(here, new StagedMemory.Part(at, 1 << 16)));
      reads.read(handle, at, new TransferBatch.Staged(here, new StagedMemory.Part(at, 4096)));
      reads.read(port, "kv", 0, arena.allocate(4096));
      reads.read(handle, at + 4096, new TransferBatch.Staged(here, new StagedMemory.Part(at + 4096, (1 << 16) - 4096)));
    }

    assertThat(now(engine.submit(writes.build()).done()).isWhole()).isTrue();
    assertThat(there.device.mismatch(here.device)).isEqualTo(-1);
    here.device.fill((byte) 0);
    assertThat(now(engine.submit(reads.build()).done()).isWhole()).isTrue();
    assertThat(there.device.mismatch(here.device)).isEqualTo(-1);
    there.fails = true;
    Transfer.BatchResult failed = now(engine.submit(reads.build()).done());
    assertThat(failed.count(TransferState.FAILED)).as("" + failed).isEqualTo(32);
    assertThat(failed.count(TransferState.COMPLETED)).isEqualTo(16);
    there.fails = false;
    here.fails = true;
    Transfer.BatchResult notStored = now(engine.submit(reads.build()).done());
    assertThat(notStored.count(TransferState.FAILED)).as("" + notStored).isEqualTo(32);
    here.fails = false;
    for (int i = 0; i < 20; i++) { // anywhere in its life
      Transfer stopped = engine.submit(reads.build());
      now(Mono.delay(Duration.ofNanos(i * 100_000L), timers));
      now(stopped.cancel());
      Transfer written = engine.submit(writes.build());
      now(Mono.delay(Duration.ofNanos(i * 100_000L), timers));
      now(written.cancel());
    }
    registry.unregister(device).block(PATIENCE);
    assertThat(there.room.inUse()).isZero();
    assertThat(here.room.inUse()).isZero();
  }

  @Test
  void segmentsAndBlocks_shareAPort() {
    CacheSpace space = CacheSpace.of("beside", BlockLayout.attention(2, 16, 2, 16, ElementType.BF16));
    HostTier tier = new HostTier(space, 8, TierListener.noop());
    closing.add(tier.close());
    int port = serve(Link.PENSTOCK, NodeSpaces.of(List.of(tier)));
    SlabArena slots = leaks.watch(new SlabArena("client", space.layout(), 4, 4));
    KvClient client = now(KvClient.connect(Link.PENSTOCK.client(port), KvClientOptions.defaults(), space, slots,
        new ByteBudget("client", 4 << 20, 4)));
    closing.add(client.close());
    TransferEngine engine = engine(Link.PENSTOCK, port);

    assertThat(now(client.stat()).spaces()).hasSize(1);
    assertThat(now(engine.submit(TransferBatch.builder().read("" + port, "kv", 0, arena.allocate(100)).build()).done())
        .isWhole()).isTrue();
  }

  /// A batch that is cancelled anywhere ends, and its memory is the caller's at once.
  @ParameterizedTest
  @EnumSource
  void cancelledBatches_leaveNothing(Link link) {
    cancelledBatches_leaveNothing(link, 300);
  }

  @Tag("proof")
  @ParameterizedTest
  @EnumSource
  void cancelledBatches_leaveNothing_atLength(Link link) {
    cancelledBatches_leaveNothing(link, 10_000);
  }

  private void cancelledBatches_leaveNothing(Link link, int rounds) {
    String port = "" + serve(link);
    TransferEngine engine = engine(link, Integer.parseInt(port), TransferOptions.defaults().withLane(4, 1 << 20));
    MemorySegment local = arena.allocate(8 * PIECE);
    SplittableRandom random = new SplittableRandom(7);
    int completed = 0;
    int cancelled = 0;
    for (int round = 0; round < rounds; round++) {
      TransferBatch.Builder batch = TransferBatch.builder();
      for (int i = 0; i < 8; i++) {
        MemorySegment piece = local.asSlice((long) i * PIECE, PIECE);
        if (i % 2 == 0) {
          batch.read(port, "kv", (long) i * PIECE, piece);
        } else {
          piece.fill((byte) 3);
          batch.write(port, "kv", (2 << 20) + (long) i * PIECE, piece);
        }
      }
      Transfer transfer = engine.submit(batch.build());
      int ends = random.nextInt(9); // not a time: a busy machine completes nothing within milliseconds
      Eventually.holds("some items have ended",
          () -> IntStream.range(0, 8).filter(i -> transfer.state(i).isTerminal()).count() >= ends);
      long until = System.nanoTime() + random.nextLong(300_000);
      while (System.nanoTime() < until) {
        Thread.onSpinWait();
      }
      Transfer.BatchResult result = now(transfer.cancel());
      local.fill((byte) 9); // no frame refers to it, and nothing lands in it
      completed += result.count(TransferState.COMPLETED);
      cancelled += result.count(TransferState.CANCELLED);
      assertThat(result.count(TransferState.COMPLETED) + result.count(TransferState.CANCELLED)).as("" + result)
          .isEqualTo(8);
      assertThat(isFilled(local, (byte) 9)).isTrue();
    }
    assertThat(cancelled).isPositive();
    assertThat(completed).isPositive();
    assertThat(isOneOf(remote.asSlice(2 << 20), (byte) 0, (byte) 3)).as("what was written").isTrue();
  }

  private static boolean isFilled(MemorySegment memory, byte value) {
    return memory.get(ValueLayout.JAVA_BYTE, 0) == value
        && memory.asSlice(1).mismatch(memory.asSlice(0, memory.byteSize() - 1)) == -1;
  }

  private static boolean isOneOf(MemorySegment memory, byte one, byte other) {
    for (long i = 0; i < memory.byteSize(); i++) {
      byte is = memory.get(ValueLayout.JAVA_BYTE, i);
      if (is != one && is != other) {
        return false;
      }
    }
    return true;
  }

  @Test
  void memoryOfAnArena_isRegisteredChunkByChunk() {
    String port = "" + serve(Link.PENSTOCK);
    TransferEngine engine = engine(Link.PENSTOCK, Integer.parseInt(port));
    BlockLayout layout = BlockLayout.attention(2, 16, 2, 16, ElementType.BF16);
    SlabArena.ChunkSource plain = SlabArena.ChunkSource.ofSystem();
    List<Segment> chunks = new ArrayList<>();
    SlabArena slab = new SlabArena("registered", layout, 4, 4, new SlabArena.ChunkSource() {
      @Override
      public MemorySegment chunk(long bytes) {
        MemorySegment chunk = plain.chunk(bytes);
        chunks.add(registry.register("chunk-" + chunks.size(), chunk));
        return chunk;
      }

      @Override
      public void close() {
        registry.unregister(chunks).block(PATIENCE);
        plain.close();
      }
    });
    slab.prepare(1);

    assertThat(now(engine.submit(TransferBatch.builder().read(port, "chunk-0", 0, arena.allocate(4096)).build()).done())
        .isWhole()).isTrue();
    slab.close();

    assertThat(now(engine.submit(TransferBatch.builder().read(port, "chunk-0", 0, arena.allocate(1)).build()).done())
        .firstError()).isInstanceOf(SegmentRegistry.UnknownSegmentException.class);
  }

  /// A caller of the façade gives its carrier back, and an event loop is refused.
  @Test
  void blockingCallers_pinNothing_andLoopsAreRefused() throws Exception {
    String port = "" + serve(Link.PENSTOCK);
    TransferEngine engine = engine(Link.PENSTOCK, Integer.parseInt(port));
    BlockingTransfers blocking = engine.blocking();
    blocking.run(TransferBatch.builder().read(port, "kv", 0, arena.allocate(16)).build()); // loads classes, which pins
    Path file = Files.createTempFile("pinned", ".jfr");
    try (Recording recording = new Recording()) {
      recording.enable("jdk.VirtualThreadPinned").withThreshold(Duration.ZERO);
      recording.start();
      List<Thread> callers = new ArrayList<>();
      List<Transfer.BatchResult> results = Collections.synchronizedList(new ArrayList<>());
      for (int i = 0; i < 64; i++) {
        MemorySegment into = arena.allocate(200_000);
        callers.add(Thread.ofVirtual().start(() -> {
          try {
            results.add(blocking.run(TransferBatch.builder().read(port, "kv", 0, into).build()));
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        }));
      }
      for (Thread caller : callers) {
        caller.join();
      }
      recording.stop();
      recording.dump(file);
      assertThat(results).hasSize(64).allMatch(Transfer.BatchResult::isWhole);
      assertThat(RecordingFile.readAllEvents(file).stream()
          .filter(event -> event.getEventType().getName().equals("jdk.VirtualThreadPinned"))
          .filter(event -> ("" + event.getStackTrace()).contains("io.penstock"))).isEmpty();
    } finally {
      Files.delete(file);
    }
    CompletableFuture<Throwable> refused = new CompletableFuture<>();
    Thread loop = new DefaultThreadFactory("loop").newThread(() -> { // marked as one that must not block
      try {
        blocking.run(TransferBatch.builder().build());
        refused.complete(new AssertionError("must be refused on " + Thread.currentThread()));
      } catch (Throwable e) {
        refused.complete(e);
      }
    });
    loop.start();
    assertThat(refused.get(20, TimeUnit.SECONDS)).isInstanceOf(BlockingTransfers.MustNotBlockException.class);
  }

  // --- what strangers send

  private RSocket raw(int port) {
    RSocket socket = now(RSocketConnector.create().payloadDecoder(PayloadDecoder.ZERO_COPY)
        .dataMimeType(ControlCodec.CBOR.mimeType()).metadataMimeType(RequestMetadata.COMPOSITE)
        .connect(Link.PENSTOCK.client(port)));
    closing.add(Mono.fromRunnable(socket::dispose));
    return socket;
  }

  private static Throwable errorOf(Flux<Payload> stream) {
    Throwable told = now(stream.doOnNext(Payload::release).then(Mono.<Throwable>empty())
        .onErrorResume(Mono::just).switchIfEmpty(Mono.just(new AssertionError("no error"))));
    return WireErrors.fromWire(told, "node");
  }

  private SegmentMessages.ItemRequest item(long offset, long length, int slice) {
    return new SegmentMessages.ItemRequest(11, segment.number(), offset, length, slice, 1);
  }

  @Test
  void requestsThatBreakARule_areRefusedByName() {
    RSocket socket = raw(serve(Link.PENSTOCK));
    assertThat(errorOf(read(socket, item(0, 0, 4096)))).hasMessageContaining("length");
    assertThat(errorOf(read(socket, item(-1, 1, 4096)))).hasMessageContaining("offset");
    assertThat(errorOf(read(socket, item(1, Long.MAX_VALUE, 4096)))).hasMessageContaining("offset");
    assertThat(errorOf(read(socket, item(remote.byteSize(), 1, 4096)))).hasMessageContaining("segment kv");
    assertThat(errorOf(read(socket, item(0, 8192, 1)))).hasMessageContaining("maxSliceBytes");
    assertThat(errorOf(read(socket, item(0, 8192, 1 << 20)))).hasMessageContaining("maxSliceBytes");
    assertThat(errorOf(read(socket, new SegmentMessages.ItemRequest(10, segment.number(), 0, 1, 4096, 1))))
        .isInstanceOf(SegmentRegistry.UnknownSegmentException.class);
    assertThat(errorOf(read(socket, new SegmentMessages.ItemRequest(11, 99, 0, 1, 4096, 1))))
        .isInstanceOf(SegmentRegistry.UnknownSegmentException.class).hasMessageContaining("99");
    assertThat(
        errorOf(
            socket.requestStream(NodeConnection.request(Routes.READ, new SegmentMessages.SegmentsRequest(null, null)))))
        .hasMessageContaining("generation");
    assertThat(errorOf(socket.requestResponse(NodeConnection.request(Routes.NOTIFY,
        new SegmentMessages.NotifyRequest(1, 1, 11, "x", "m".repeat(5000)))).flux()))
        .hasMessageContaining("notification");
    assertThat(errorOf(socket.requestResponse(NodeConnection.request(Routes.READ, item(0, 1, 1))).flux()))
        .hasMessageContaining("route");
  }

  private static Flux<Payload> read(RSocket socket, SegmentMessages.ItemRequest request) {
    return socket.requestStream(NodeConnection.request(Routes.READ, request));
  }

  @Test
  void slicesThatAreNotThoseOfTheirItem_neverLand() {
    RSocket socket = raw(serve(Link.PENSTOCK));
    byte[] bytes = new byte[100];
    Arrays.fill(bytes, (byte) 7);
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    int right = (int) crc.getValue();
    Object[][] wrong = {{slice(1, 0, 100, right + 1), "CRC32C of the bytes"},
      {slice(2, 0, 100, right), "item"}, {slice(1, 4, 100, right), "offset"},
      {slice(1, 0, 99, right), "bytes after the header"},
      {new SegmentSlice(1, 12, segment.number(), 0, 100, right), "generation"},
      {new SegmentSlice(1, 11, segment.number() + 1, 0, 100, right), "segment"}};
    for (Object[] one : wrong) {
      assertThat(errorOf(write(socket, (SegmentSlice) one[0], bytes, -1))).hasMessageContaining((String) one[1]);
    }
    for (int at = 0; at < SegmentSlice.BYTES; at++) { // each byte of the header is covered
      assertThat(errorOf(write(socket, slice(1, 0, 100, right), bytes, at))).hasMessageContaining("slice");
    }
    assertThat(isFilled(remote.asSlice(0, 4096), (byte) 0)).isTrue();
    assertThat(write(socket, slice(1, 0, 100, right), bytes, -1).doOnNext(Payload::release).count()
        .block(PATIENCE)).isEqualTo(1);
    assertThat(isFilled(remote.asSlice(0, 100), (byte) 7)).isTrue();
  }

  private SegmentSlice slice(long item, long offset, int length, int crc) {
    return new SegmentSlice(item, 11, segment.number(), offset, length, crc);
  }

  private Flux<Payload> write(RSocket socket, SegmentSlice header, byte[] bytes, int flipped) {
    return socket.requestChannel(Flux.defer(() -> {
      ByteBuf slice = Unpooled.wrappedBuffer(header.encode(ByteBufAllocator.DEFAULT),
          Unpooled.wrappedBuffer(bytes));
      if (flipped >= 0) {
        slice.setByte(flipped, slice.getByte(flipped) ^ 1);
      }
      return Flux.just(NodeConnection.request(Routes.WRITE, item(0, 100, 100)), ByteBufPayload.create(slice));
    }));
  }

  /// What an engine sent over a connection before must not land on top of what it writes later.
  @Test
  void writesOfAnEarlierConnection_endBeforeALaterOneBegins() {
    int port = serve(Link.PENSTOCK);
    RSocket before = raw(port);
    RSocket later = raw(port);
    ask(before, 42);
    Sinks.Many<Payload> slices = Sinks.many().unicast().onBackpressureBuffer();
    slices.tryEmitNext(NodeConnection.request(Routes.WRITE, item(0, 100, 100)));
    CompletableFuture<Throwable> ended = new CompletableFuture<>();
    before.requestChannel(slices.asFlux()).subscribe(Payload::release, ended::complete);
    ask(before, 42); // the channel was opened before this
    assertThat(ended).isNotDone();

    ask(later, 42);

    assertThat(WireErrors.fromWire(ended.orTimeout(20, TimeUnit.SECONDS).join(), "node"))
        .hasMessageContaining("the latest of its engine");
    for (int i = 0; i <= KvServerOptions.defaults().maxStreams(); i++) { // none of them keeps its place
      assertThat(errorOf(write(before, slice(1, 0, 100, 0), new byte[100], -1)))
          .hasMessageContaining("the latest of its engine");
    }
    assertThat(errorOf(write(later, slice(1, 0, 100, 0), new byte[100], -1)))
        .hasMessageContaining("CRC32C");
  }

  private static void ask(RSocket socket, long engine) {
    now(socket
        .requestResponse(NodeConnection.request(Routes.SEGMENTS, new SegmentMessages.SegmentsRequest(engine, null)))
        .map(reply -> NodeConnection.read(reply, SegmentMessages.SegmentsReply.class)));
  }

  @Test
  void users_mayWhatTheirRoleInEverySpaceSays() throws Exception {
    Path file = Files.createTempFile("users", "");
    Files.write(file, List.of(UserFile.lineOf("reader", "reader".toCharArray()),
        UserFile.lineOf("writer", "writer".toCharArray()), UserFile.lineOf("other", "other".toCharArray())));
    UserFile users = UserFile.read(file);
    Files.delete(file);
    AccessRules rules = new AccessRules(Map.of("reader", List.of(Grant.everywhere(Role.READER)),
        "writer", List.of(Grant.everywhere(Role.WRITER)),
        "other", List.of(new Grant(Role.ADMIN, Set.of("chat")))));
    KvServer server = now(KvServer.bind(Link.PENSTOCK.server(), NodeSpaces.none(), registry,
        KvServerOptions.builder().access(Access.of(() -> users, () -> rules)).build(),
        leaks.watch(new ByteBudget("node", 8 << 20, 8)), timers, Schedulers.immediate()));
    closing.add(server.close());
    String port = "" + Link.PENSTOCK.port(server);
    MemorySegment local = arena.allocate(8);
    TransferBatch reading = TransferBatch.builder().read(port, "kv", 0, local).build();
    TransferBatch writing = TransferBatch.builder().write(port, "kv", 0, local).build();

    assertThat(errorAs("reader", reading)).isNull();
    assertThat(errorAs("writer", writing)).isNull();
    assertThat(errorAs("reader", writing)).hasMessageContaining("writer for penstock.v1.write in every space");
    assertThat(errorAs("other", reading)).hasMessageContaining("reader for penstock.v1.segments");
  }

  /// The first error of `batch`, submitted by `user`.
  private @Nullable Throwable errorAs(String user, TransferBatch batch) {
    KvClientOptions client = KvClientOptions.builder().maxSliceBytes(SLICE)
        .credentials(Credentials.bearer(user.toCharArray())).build();
    TransferEngine engine = new TransferEngine(TransferOptions.defaults(),
        new SegmentConnector(address -> Link.PENSTOCK.client(Integer.parseInt(address)), client, own), timers,
        new SplittableRandom(4));
    try {
      return now(engine.submit(batch).done()).firstError();
    } finally {
      engine.close().block(PATIENCE);
    }
  }

  @Test
  void nodeWithoutSegments_knowsNoneOfTheRoutes() {
    CacheSpace space = CacheSpace.of("alone", BlockLayout.attention(2, 16, 2, 16, ElementType.BF16));
    HostTier tier = new HostTier(space, 8, TierListener.noop());
    closing.add(tier.close());
    KvServer server = now(KvServer.bind(Link.PENSTOCK.server(), tier, KvServerOptions.defaults(),
        leaks.watch(new ByteBudget("tier", 8 << 20, 8)), timers));
    closing.add(server.close());
    String port = "" + Link.PENSTOCK.port(server);
    TransferEngine engine = engine(Link.PENSTOCK, Integer.parseInt(port));

    assertThatThrownBy(() -> now(engine.segments(port))).isInstanceOfSatisfying(RemotePermanentException.class,
        error -> assertThat(error.code()).isEqualTo(ErrorCode.UNKNOWN_ROUTE.code()));
  }
}
