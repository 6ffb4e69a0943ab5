package io.penstock.wire.segment;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.carrier.SharedMemoryReceiver;
import io.penstock.carrier.SharedMemorySender;
import io.penstock.check.Checksum;
import io.penstock.system.NativeMemory;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.ByteBudget;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.link.NodeConnection;
import io.penstock.wire.client.segment.SegmentConnector;
import io.penstock.wire.protocol.Carrier;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.protocol.SegmentMessages;
import io.penstock.wire.protocol.SegmentSlice;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.report.StreamListener;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.server.space.NodeSpaces;
import io.penstock.wire.simulate.Direction;
import io.penstock.wire.simulate.LinkFault;
import io.penstock.wire.simulate.LinkPlan;
import io.penstock.wire.simulate.SimulatedLink;
import io.penstock.wire.simulate.SimulatedTime;
import io.penstock.wire.transfer.Segment;
import io.penstock.wire.transfer.SegmentLink;
import io.penstock.wire.transfer.SegmentRegistry;
import io.penstock.wire.transfer.Transfer;
import io.penstock.wire.transfer.TransferBatch;
import io.penstock.wire.transfer.TransferEngine;
import io.penstock.wire.transfer.TransferListener;
import io.penstock.wire.transfer.TransferOptions;
import io.penstock.wire.transfer.TransferState;
import io.rsocket.Payload;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/// Bytes of segments that go through shared memory, in virtual time: the frames are on a simulated link.
@Timeout(60)
final class SharedSegmentsTest {
  private static final int SLICE = 64 << 10;
  private static final int SLICES = 40;
  private static final int BYTES = SLICES * SLICE;

  private final SimulatedTime time = new SimulatedTime(8);
  private final LeakLedger leaks = new LeakLedger();
  private final ChunkSource shared = ChunkSource.shared("segments");
  private final Arena arena = Arena.ofShared();
  private final SegmentRegistry registry = new SegmentRegistry(3);
  private final List<StreamListener.Report> streams = new ArrayList<>();
  private final List<Long> carried = new ArrayList<>();
  private final List<Runnable> closing = new ArrayList<>();

  @BeforeAll
  static void aSystemWithNativeCalls() {
    assumeTrue(NativeMemory.absence().isEmpty());
  }

  @AfterEach
  void close() {
    closing.reversed().forEach(Runnable::run);
    leaks.close();
    shared.close();
    arena.close();
  }

  private TransferEngine engine(LinkPlan plan, List<Carrier> ofNode, Carrier... ofClient) {
    SimulatedLink link = SimulatedLink.of(time, "node", UnpooledByteBufAllocator.DEFAULT, plan);
    KvServerOptions options = KvServerOptions.builder().limits(new Limits(SLICE, 4, 16)).carriers(ofNode)
        .streams(streams::add).build();
    KvServer server = now(KvServer.bind(link.server(), NodeSpaces.none(), registry, options,
        leaks.watch(new ByteBudget("node", 8 << 20, 64)), time.scheduler(), Schedulers.immediate()));
    closing.add(() -> now(server.close()));
    KvClientOptions client = KvClientOptions.builder().maxSliceBytes(SLICE).carriers(ofClient).build();
    TransferEngine engine = new TransferEngine(TransferOptions.defaults(),
        new SegmentConnector(name -> link.client(), client, leaks.watch(new ByteBudget("engine", 8 << 20, 64))),
        time.scheduler(), new SplittableRandom(1), new TransferListener() {
          @Override
          public void carried(String peer, String transport, TransferBatch.Direction direction, long bytes,
              long sharedBytes) {
            carried.add(sharedBytes);
          }
        });
    closing.add(() -> now(engine.close()));
    return engine;
  }

  private <T> T now(Mono<T> work) {
    CompletableFuture<T> result = work.toFuture();
    assertThat(time.runUntil(result::isDone, Duration.ofMinutes(2))).as("done").isTrue();
    return result.join();
  }

  private static MemorySegment filled(MemorySegment memory, long salt) {
    for (long i = 0; i < memory.byteSize() / 8; i++) {
      memory.setAtIndex(ValueLayout.JAVA_LONG, i, (i + salt) * 0x9E37_79B9_7F4A_7C15L);
    }
    return memory;
  }

  private Transfer.BatchResult moved(TransferEngine engine, TransferBatch.Direction direction, MemorySegment local) {
    return now(engine.submit(TransferBatch.builder()
        .add(new TransferBatch.Item(direction, "node", "kv", null, 0, List.of(local))).build()).done());
  }

  @Test
  void readWithAWrongProof_isRefused_andHoldsNothing() {
    Segment served = registry.register("kv", arena.allocate(BYTES, 8));
    SimulatedLink link = SimulatedLink.of(time, "node", UnpooledByteBufAllocator.DEFAULT, LinkPlan.quiet());
    KvServerOptions options =
        KvServerOptions.builder().limits(new Limits(SLICE, 4, 16)).carriers(List.of(Carrier.values())).build();
    KvServer server = now(KvServer.bind(link.server(), NodeSpaces.none(), registry, options,
        leaks.watch(new ByteBudget("node", 8 << 20, 64)), time.scheduler(), Schedulers.immediate()));
    closing.add(() -> now(server.close()));
    NodeConnection connection =
        now(NodeConnection.open(link.client(), KvClientOptions.builder().build().link(), "the node"));
    closing.add(connection::end);
    now(connection.ask(Routes.SEGMENTS, new SegmentMessages.SegmentsRequest(1L, 1L, null),
        SegmentMessages.SegmentsReply.class));

    SegmentMessages.ItemRequest wrong = SegmentMessages.ItemRequest.of(
        List.of(new SegmentLink.Range(served.generation(), served.number(), 0, SLICE)), SLICE, 1, new byte[16]);
    CompletableFuture<?> read = connection.rsocket().requestStream(NodeConnection.request(Routes.READ, wrong))
        .doOnNext(Payload::release).then().toFuture();

    assertThat(time.runUntil(read::isDone, Duration.ofMinutes(1))).isTrue();
    assertThat(read).isCompletedExceptionally();
    assertThat(server.runningStreams()).isZero();
    now(registry.unregister(served).thenReturn(true));
  }

  /// A write, then a read of what was written; none of the bytes go in frames.
  private void thereAndBack(MemorySegment remote, MemorySegment local) {
    registry.register("kv", remote);
    TransferEngine engine = engine(LinkPlan.quiet(), List.of(Carrier.values()), Carrier.SHARED_MEMORY);
    MemorySegment bytes = filled(arena.allocate(BYTES, 8), 1);

    local.copyFrom(bytes);
    assertThat(moved(engine, TransferBatch.Direction.WRITE, local).isWhole()).isTrue();
    assertThat(remote.mismatch(bytes)).isEqualTo(-1);
    local.fill((byte) 0);
    assertThat(moved(engine, TransferBatch.Direction.READ, local).isWhole()).isTrue();

    assertThat(local.mismatch(bytes)).isEqualTo(-1);
    assertThat(carried).as("bytes that were not in frames").containsExactly((long) BYTES, (long) BYTES);
    time.advance(Duration.ofSeconds(1));
    assertThat(streams).extracting(StreamListener.Report::sharedBytes).containsExactly((long) BYTES, (long) BYTES);
    assertThat(streams).extracting(StreamListener.Report::failure).containsOnlyNulls();
  }

  @Test
  void sharedMemory_isReadWhereItLies() {
    thereAndBack(shared.chunk(BYTES), shared.chunk(BYTES));
  }

  @Test
  void otherMemory_goesThroughStagingSlots() {
    thereAndBack(arena.allocate(BYTES, 8), arena.allocate(BYTES, 8));
  }

  @Test
  void smallItems_goInFrames() {
    registry.register("kv", filled(shared.chunk(BYTES), 2));
    TransferEngine engine = engine(LinkPlan.quiet(), List.of(Carrier.values()), Carrier.SHARED_MEMORY);

    assertThat(moved(engine, TransferBatch.Direction.READ, arena.allocate(4096)).isWhole()).isTrue();

    assertThat(carried).containsExactly(0L);
  }

  @Test
  void aNodeThatCarriesInlineAlone_isLeftToFrames_orRefused() {
    registry.register("kv", filled(shared.chunk(BYTES), 2));
    TransferEngine either = engine(LinkPlan.quiet(), List.of(Carrier.INLINE), Carrier.SHARED_MEMORY, Carrier.INLINE);
    assertThat(moved(either, TransferBatch.Direction.READ, arena.allocate(BYTES)).isWhole()).isTrue();
    assertThat(carried).containsExactly(0L);

    TransferEngine pinned = engine(LinkPlan.quiet(), List.of(Carrier.INLINE), Carrier.SHARED_MEMORY);
    assertThat(moved(pinned, TransferBatch.Direction.READ, arena.allocate(BYTES)).firstError())
        .hasMessageContaining("shared memory is for processes of the node's user");
  }

  /// A stopped write leaves its memory when the peer, which may read it, has answered: not while references to it are
  /// on their way.
  @Test
  void stoppedWrite_endsWhenThePeerReadsItsMemoryNoMore() {
    MemorySegment remote = shared.chunk(BYTES);
    registry.register("kv", remote.fill((byte) 1));
    MemorySegment local = shared.chunk(BYTES).fill((byte) 2);
    TransferEngine engine = engine(
        LinkPlan.quiet().withFaults(new LinkFault.Stall(Direction.UP, 6, Duration.ofSeconds(1))),
        List.of(Carrier.values()), Carrier.SHARED_MEMORY);
    Transfer transfer = engine.submit(TransferBatch.builder().write("node", "kv", 0, local).build());
    transfer.results().subscribe(result -> local.fill((byte) 3)); // its memory is the caller's again
    time.advance(Duration.ofMillis(100));

    CompletableFuture<Transfer.BatchResult> done = transfer.cancel().toFuture();
    time.advance(Duration.ofMillis(100));
    assertThat(transfer.state(0)).isEqualTo(TransferState.IN_PROGRESS);

    assertThat(time.runUntil(done::isDone, Duration.ofSeconds(5))).isTrue();
    assertThat(done.join().count(TransferState.CANCELLED)).isEqualTo(1);
    time.advance(Duration.ofSeconds(10));
    for (long i = 0; i < BYTES; i += 64) {
      if (remote.get(ValueLayout.JAVA_BYTE, i) == 3) {
        throw new AssertionError("byte " + i + " must not be one that was written after the end (was)");
      }
    }
    assertThat(remote.get(ValueLayout.JAVA_BYTE, 0)).as("what landed before").isEqualTo((byte) 2);
  }

  @Test
  void unregister_waitsUntilThePeerHasReadTheMemory() {
    MemorySegment remote = filled(shared.chunk(BYTES), 4);
    registry.register("kv", remote);
    TransferEngine engine = engine(
        LinkPlan.quiet().withFaults(new LinkFault.Stall(Direction.UP, 5, Duration.ofSeconds(1))),
        List.of(Carrier.values()), Carrier.SHARED_MEMORY);
    MemorySegment local = arena.allocate(BYTES);
    CompletableFuture<Transfer.BatchResult> read =
        engine.submit(TransferBatch.builder().read("node", "kv", 0, local).build()).done().toFuture();
    time.advance(Duration.ofMillis(100));
    CompletableFuture<Void> gone = registry.unregister(registry.snapshot().segments())
        .doOnSuccess(nothing -> remote.fill((byte) 0)).toFuture(); // a read that still ran would find it
    time.advance(Duration.ofMillis(100));
    assertThat(gone).as("the peer has asked for no more slices").isNotDone();

    assertThat(time.runUntil(() -> gone.isDone() && read.isDone(), Duration.ofMinutes(1))).isTrue();

    assertThat(read.join().isWhole()).as("" + read.join()).isTrue();
    assertThat(local.mismatch(filled(arena.allocate(BYTES, 8), 4))).isEqualTo(-1);
  }

  @ParameterizedTest
  @EnumSource(Carrier.class)
  void memoryThatItsOwnerFrees_failsTheItem_andKeepsNothingOfTheBudget(Carrier carrier) {
    registry.register("kv", shared.chunk(BYTES));
    TransferEngine engine = engine(LinkPlan.quiet(), List.of(Carrier.values()), carrier);
    Arena owned = Arena.ofShared();
    Transfer transfer = engine.submit(TransferBatch.builder().write("node", "kv", 0, owned.allocate(BYTES)).build());
    owned.close();

    assertThat(now(transfer.done()).count(TransferState.FAILED)).isEqualTo(1);
  }

  // --- what a receiver does not believe

  private SegmentLanding landing(SharedMemoryReceiver receiver, MemorySegment into) {
    return new SegmentLanding(List.of(into),
        new SegmentMessages.ItemRequest(3, 1, 0, into.byteSize(), SLICE, 9), receiver);
  }

  private static ByteBuf slice(MemorySegment from, int crc, byte[] reference) {
    return new SegmentSlice(9, 3, 1, 0, (int) from.byteSize(), crc, true)
        .encode(UnpooledByteBufAllocator.DEFAULT, reference);
  }

  @Test
  void bytesThatChanged_andReferencesThatAreWrong_areRefused() {
    MemorySegment from = filled(shared.chunk(SLICE), 7);
    byte[] reference = requireNonNull(new SharedMemorySender().reference(from));
    int crc = Checksum.of(from);
    try (SharedMemoryReceiver receiver = new SharedMemoryReceiver(ProcessHandle.current().pid())) {
      MemorySegment into = arena.allocate(SLICE);
      SegmentLanding right = landing(receiver, into);
      land(right, slice(from, crc, reference));
      assertThat(right.isWhole()).isTrue();
      assertThat(into.mismatch(from)).isEqualTo(-1);

      from.set(ValueLayout.JAVA_BYTE, SLICE - 1, (byte) 99);
      assertThatThrownBy(() -> land(landing(receiver, into), slice(from, crc, reference)))
          .isInstanceOf(SegmentLink.CorruptException.class);
      for (int i = 0; i < reference.length; i++) {
        byte[] damaged = reference.clone();
        damaged[i] ^= 1;
        assertThatThrownBy(() -> land(landing(receiver, into), slice(from, Checksum.of(from), damaged)))
            .isInstanceOf(WireFormatException.class);
      }
      assertThatThrownBy(() -> land(landing(receiver, into), slice(from, crc, new byte[3])))
          .isInstanceOf(WireFormatException.class);
    }
    MemorySegment into = arena.allocate(SLICE);
    SegmentLanding inline = new SegmentLanding(List.of(into),
        new SegmentMessages.ItemRequest(3, 1, 0, into.byteSize(), SLICE, 9), null);
    assertThatThrownBy(() -> land(inline, slice(from, crc, reference))).isInstanceOf(WireFormatException.class)
        .hasMessageContaining("flags");
  }

  private static void land(SegmentLanding landing, ByteBuf slice) {
    try {
      landing.land(slice);
    } finally {
      slice.release();
    }
  }

  // --- staging slots

  @Test
  void aSlot_comesBack_ifTheMemoryToBeCopiedHasGone() {
    StagingSlots slots = new StagingSlots(SLICE);
    slots.enter();
    SharedSlices slices = requireNonNull(SharedSlices.of(new SharedMemorySender(), slots));
    Arena owned = Arena.ofShared();
    MemorySegment from = owned.allocate(SLICE);
    owned.close();

    assertThatThrownBy(() -> slices.offer(List.of(from), SLICE)).isInstanceOf(IllegalStateException.class);

    assertThat(slots.taken()).isZero();
    slots.leave();
  }

  @Test
  void slots_areBounded_lentAgain_andFreedWithTheLastConnection() {
    StagingSlots slots = new StagingSlots(8 << 20);
    slots.enter();
    List<MemorySegment> lent = new ArrayList<>();
    for (MemorySegment slot = slots.take(); slot != null; slot = slots.take()) {
      lent.add(slot);
    }
    assertThat(lent).as("32 MiB").hasSize(4).doesNotHaveDuplicates();

    slots.giveBack(lent.get(0), false);
    slots.giveBack(lent.get(1), true);
    slots.giveBack(lent.get(2), true);
    assertThat(List.of(requireNonNull(slots.take()), requireNonNull(slots.take()), requireNonNull(slots.take())))
        .as("what may still be read comes last").containsExactly(lent.get(2), lent.get(1), lent.get(0));

    slots.leave();
    assertThat(lent.getFirst().scope().isAlive()).as("lent").isTrue();
    lent.forEach(slot -> slots.giveBack(slot, true));
    assertThat(lent.getFirst().scope().isAlive()).isFalse();
    assertThat(slots.taken()).isZero();
  }
}
