package io.penstock.wire;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.stack.shape.StackOptions;
import io.penstock.system.NativeFile;
import io.penstock.system.NativeMemory;
import io.penstock.tier.Reservation;
import io.penstock.wire.protocol.ControlCodec;
import io.penstock.wire.protocol.Fields;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.PutMessages;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.protocol.WireErrors;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import io.penstock.wire.region.RegionFolder;
import io.penstock.wire.region.RegionMessages;
import io.penstock.wire.server.KvServerOptions;
import io.rsocket.RSocket;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// Slots of a client's shared memory, over a Unix domain socket.
@Timeout(240)
final class RegionRoutesTest {
  private static final CacheSpace SPACE =
      CacheSpace.of("slots", BlockLayout.attention(2, 16, 4, 64, ElementType.BF16)); // 32 KiB
  private static final int BLOCK = SPACE.layout().blockBytes();
  private static final int STRIDE = BLOCK + 4096;
  private static final int SLOTS = 32;
  private static final int WINDOW = 4;
  private static final ControlCodec CBOR = ControlCodec.CBOR;
  private static final Path MEMORY = Path.of("/dev/shm");

  private final Arena arena = Arena.ofShared();
  private final ExecutorService threads = Executors.newFixedThreadPool(2);
  private final Scheduler copies = Schedulers.fromExecutor((Executor) threads::execute);
  private Path path;
  private NativeFile file;
  private MemorySegment region;

  @BeforeEach
  void makeRegion() throws IOException {
    assumeTrue(NativeMemory.absence().isEmpty() && Files.isWritable(MEMORY));
    path = Files.createTempFile(MEMORY, "penstock-test", ".mmap");
    file = NativeFile.open(path);
    file.resize((long) SLOTS * STRIDE);
    region = file.map((long) SLOTS * STRIDE, arena);
  }

  @AfterEach
  void removeRegion() throws IOException {
    threads.shutdown();
    if (file != null) {
      arena.close();
      file.close();
      Files.delete(path);
    }
  }

  private WireNode node(Link link, int blocks) {
    KvServerOptions options = KvServerOptions.builder().limits(new Limits(16 << 10, WINDOW, 256))
        .regions(new RegionFolder(MEMORY, copies)).build();
    return new WireNode(link, SPACE, blocks, StackOptions.defaults("dram").withIngressBlocks(2 * WINDOW), options,
        8 * (16 << 10), Schedulers.newSingle("timers", true));
  }

  private static <T> T ask(RSocket socket, String route, Object message, Class<T> type) {
    try {
      return requireNonNull(socket.requestResponse(WireNode.request(CBOR, route, message))
          .map(reply -> WireNode.read(CBOR, reply, type)).block(WireNode.PATIENCE));
    } catch (RuntimeException e) {
      throw (RuntimeException) WireErrors.fromWire(e, "the node");
    }
  }

  private static RegionMessages.RegionRequest request(String path, long bytes, long stride) {
    return new RegionMessages.RegionRequest(Fields.bytes(SPACE.id()), path, bytes, stride, null, null);
  }

  private long mapped(RSocket socket) {
    RegionMessages.RegionReply reply = ask(socket, Routes.REGION, request("" + path, region.byteSize(), STRIDE),
        RegionMessages.RegionReply.class);
    assertThat(reply.slots()).isEqualTo(SLOTS);
    return reply.region();
  }

  private static RegionMessages.SlotsRequest slots(long number, List<BlockKey> keys, List<Integer> slots) {
    return slots(number, keys, slots, 0, null);
  }

  private static RegionMessages.SlotsRequest slots(long number, List<BlockKey> keys, List<Integer> slots, long ticket,
      Long millis) {
    ByteBuffer numbers = ByteBuffer.allocate(4 * slots.size()).order(ByteOrder.LITTLE_ENDIAN);
    slots.forEach(numbers::putInt);
    return new RegionMessages.SlotsRequest(number, Messages.Keys.of(SPACE.id(), keys), numbers.array(), ticket, millis,
        null);
  }

  private static List<Integer> codes(RegionMessages.SlotsReply reply) {
    List<Integer> codes = new ArrayList<>();
    for (int i = 0; i < reply.size(); i++) {
      int position = i;
      boolean done = (reply.bits().length > i >> 3) && (reply.bits()[i >> 3] >> (i & 7) & 1) == 1;
      codes.add(done
          ? 0
          : reply.failed().stream().filter(each -> each.position() == position).map(PutMessages.Failed::code)
              .findFirst().orElseThrow());
    }
    return codes;
  }

  private List<Integer> store(RSocket socket, long number, List<BlockKey> keys, List<Integer> slots) {
    return codes(ask(socket, Routes.STORE, slots(number, keys, slots), RegionMessages.SlotsReply.class));
  }

  private List<Integer> load(RSocket socket, long number, List<BlockKey> keys, List<Integer> slots) {
    return codes(ask(socket, Routes.LOAD, slots(number, keys, slots), RegionMessages.SlotsReply.class));
  }

  private MemorySegment slot(int slot) {
    return region.asSlice((long) slot * STRIDE, BLOCK);
  }

  /// Fills a slot with bytes that follow from the key.
  private void fill(int slot, BlockKey key) {
    byte[] bytes = new byte[BLOCK];
    new Random(key.hashCode()).nextBytes(bytes);
    slot(slot).copyFrom(MemorySegment.ofArray(bytes));
  }

  private void requireFilled(int slot, BlockKey key) {
    byte[] bytes = new byte[BLOCK];
    new Random(key.hashCode()).nextBytes(bytes);
    assertThat(slot(slot).mismatch(MemorySegment.ofArray(bytes))).isEqualTo(-1);
  }

  private static List<Integer> from(int first, int count) {
    return IntStream.range(first, first + count).boxed().toList();
  }

  @Test
  void slots_areStoredAndLoaded_andAnswersSayWhatBecameOfEachKey() {
    try (WireNode node = node(Link.SHARED_MEMORY, 64)) {
      RSocket socket = node.raw("application/cbor");
      long number = mapped(socket);
      List<BlockKey> keys = node.keys(0, 10);
      for (int i = 0; i < 10; i++) {
        fill(i, keys.get(i));
      }
      assertThat(store(socket, number, keys, from(0, 10))).containsOnly(0).hasSize(10);
      fill(0, keys.get(1)); // of what the node has it reads nothing
      assertThat(store(socket, number, keys.subList(0, 2), from(0, 2))).containsExactly(0, 0);

      List<BlockKey> asked = new ArrayList<>(keys);
      asked.add(3, node.keys(100, 101).getFirst());
      assertThat(load(socket, number, asked, from(10, 11))).containsExactly(0, 0, 0, -704, 0, 0, 0, 0, 0, 0, 0);
      for (int i = 0; i < 11; i++) {
        if (i != 3) {
          requireFilled(10 + i, asked.get(i));
        }
      }
      assertThat(store(socket, number, List.of(), List.of())).isEmpty();
      assertThat(node.tier.stat().block(WireNode.PATIENCE).blocks()).isEqualTo(10);
      node.awaitIdle();
    }
  }

  @Test
  void damagedBlock_failsAlone_andIsAMissFromThenOn() {
    try (WireNode node = node(Link.SHARED_MEMORY, 64); BlockScope scope = new BlockScope()) {
      RSocket socket = node.raw("application/cbor");
      long number = mapped(socket);
      List<BlockKey> keys = node.keys(0, 6);
      for (int i = 0; i < 6; i++) {
        fill(i, keys.get(i));
      }
      store(socket, number, keys, from(0, 6));
      Block block = requireNonNull(node.tier.get(keys.subList(2, 3), scope).blockLast(WireNode.PATIENCE));
      flip(block);
      block.close();

      assertThat(load(socket, number, keys, from(10, 6))).containsExactly(0, 0, -801, 0, 0, 0);
      assertThat(load(socket, number, keys, from(10, 6))).containsExactly(0, 0, -704, 0, 0, 0);
      requireFilled(15, keys.get(5));
    }
  }

  @SuppressWarnings("restricted") // what a broken memory does
  private static void flip(Block block) {
    block.read(memory -> {
      MemorySegment bytes = MemorySegment.ofAddress(memory.address()).reinterpret(memory.byteSize());
      bytes.set(ValueLayout.JAVA_BYTE, 77, (byte) ~bytes.get(ValueLayout.JAVA_BYTE, 77));
      return 0;
    });
  }

  @Test
  void storeWithoutRoom_endsInTime_andSaysSo() {
    try (WireNode node = node(Link.SHARED_MEMORY, 16); BlockScope scope = new BlockScope()) {
      RSocket socket = node.raw("application/cbor");
      long number = mapped(socket);
      List<Reservation> held = new ArrayList<>();
      List<Disposable> waiting = new ArrayList<>();
      for (int i = 0; i < 64; i++) { // more than there is room for
        waiting.add(node.tier.reserve(node.keys(1_000 + i, 1_001 + i), scope).subscribe(held::add));
      }
      assertThat(codes(ask(socket, Routes.STORE, slots(number, node.keys(0, 6), from(0, 6), 0, 100L),
          RegionMessages.SlotsReply.class))).containsOnly(-200).hasSize(6);
      waiting.forEach(Disposable::dispose);
      held.forEach(Reservation::close);
      assertThat(store(socket, number, node.keys(0, 6), from(0, 6))).containsOnly(0).hasSize(6);
    }
  }

  @Test
  void hostileRegion_isRefusedWithItsField() throws IOException {
    try (WireNode node = node(Link.SHARED_MEMORY, 16)) {
      RSocket socket = node.raw("application/cbor");
      Path link = path.resolveSibling(path.getFileName() + "-link");
      Files.createSymbolicLink(link, path);
      Path folder = Files.createTempDirectory(MEMORY, "penstock-test");
      Path onDisk = Files.createTempFile("penstock-test", ".mmap");
      try {
        for (String named : List.of("" + link, "" + folder, folder + "/x", "" + onDisk, "/dev/shm/../etc/passwd",
            "/dev/shm/..", "/dev/shm/.", "/dev/shm/", "", "/etc/passwd", path.getFileName().toString(), path + "\0",
            "/dev/shm//" + path.getFileName(), "/dev/shm/penstock-none", "/dev/shm/./" + path.getFileName(),
            "/dev/shm/" + "x".repeat(5_000))) {
          assertRefused("path", () -> ask(socket, Routes.REGION, request(named, 1 << 20, STRIDE),
              RegionMessages.RegionReply.class));
        }
      } finally {
        Files.delete(link);
        Files.delete(folder);
        Files.delete(onDisk);
      }
      for (long bytes : new long[] {region.byteSize() + 1, Long.MAX_VALUE}) {
        assertRefused("bytes", () -> ask(socket, Routes.REGION, request("" + path, bytes, STRIDE),
            RegionMessages.RegionReply.class));
      }
      assertRefused("stride", () -> ask(socket, Routes.REGION, request("" + path, region.byteSize(), BLOCK - 1),
          RegionMessages.RegionReply.class));
    }
  }

  private static void assertRefused(String field, Runnable request) {
    assertThatThrownBy(request::run).isInstanceOfSatisfying(RemotePermanentException.class,
        refused -> assertThat(refused.field()).isEqualTo(field));
  }

  @ParameterizedTest
  @ValueSource(strings = {"PENSTOCK", "STOCK"})
  void region_isNotForClientsOfASocketThatStatesNoProcess(Link link) {
    try (WireNode node = node(link, 16)) {
      RSocket socket = node.raw("application/cbor");
      assertRefused("region", () -> mapped(socket));
    }
  }

  @Test
  void slots_outsideTheRegion_orTwiceInALoad_areRefused() {
    try (WireNode node = node(Link.SHARED_MEMORY, 16)) {
      RSocket socket = node.raw("application/cbor");
      long number = mapped(socket);
      List<BlockKey> two = node.keys(0, 2);
      for (List<Integer> wrong : List.of(List.of(0, SLOTS), List.of(-1, 0), List.of(0), List.of(0, 1, 2),
          List.of(Integer.MAX_VALUE, 0))) {
        assertRefused("slots", () -> store(socket, number, two, wrong));
        assertRefused("slots", () -> load(socket, number, two, wrong));
      }
      assertRefused("slots", () -> load(socket, number, two, List.of(3, 3)));
      assertRefused("region", () -> load(socket, number + 1, two, List.of(3, 4)));
      RSocket other = node.raw("application/cbor");
      assertRefused("region", () -> load(other, number, two, List.of(3, 4)));
    }
  }

  /// The system would end this process if it touched a page that has gone in any way but the one that reports it.
  @Test
  void regionThatItsOwnerCutsShort_isRefused_andTheNodeGoesOn() throws Exception {
    try (WireNode node = node(Link.SHARED_MEMORY, 64)) {
      RSocket socket = node.raw("application/cbor");
      long number = mapped(socket);
      List<BlockKey> kept = node.keys(0, 8);
      store(socket, number, kept, from(0, 8));
      AtomicBoolean over = new AtomicBoolean();
      Thread cutting = Thread.ofPlatform().start(() -> {
        while (!over.get()) {
          resize(4096);
          resize(region.byteSize());
        }
      });
      int refused = 0;
      for (int i = 0; i < 60; i++) {
        List<BlockKey> fresh = node.keys(100 + 8 * i, 108 + 8 * i);
        refused += refused(() -> store(socket, number, fresh, from(20, 8)));
        refused += refused(() -> load(socket, number, kept, from(10, 8)));
      }
      over.set(true);
      cutting.join();
      assertThat(refused).isPositive();
      fill(3, kept.getFirst());
      List<BlockKey> last = node.keys(50_000, 50_001);
      assertThat(store(socket, number, last, List.of(3))).containsExactly(0);
      assertThat(load(socket, number, last, List.of(4))).containsExactly(0);
      requireFilled(4, kept.getFirst());
      node.awaitIdle();
    }
  }

  private void resize(long bytes) {
    try {
      file.resize(bytes);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static int refused(Runnable request) {
    try {
      request.run();
      return 0;
    } catch (RemotePermanentException e) {
      assertThat(e.field()).isEqualTo("region");
      return 1;
    }
  }

  @Test
  void regionOfAConnectionThatIsGone_isUnlocked_whenNoCopyTouchesIt() throws IOException {
    try (WireNode node = node(Link.SHARED_MEMORY, 64); NativeFile mine = NativeFile.open(path)) {
      RSocket socket = node.raw("application/cbor");
      long number = mapped(socket);
      List<BlockKey> keys = node.keys(0, 16);
      store(socket, number, keys, from(0, 16));
      assertThat(mine.tryLock()).isFalse();
      for (int i = 0; i < 20; i++) {
        socket.requestResponse(WireNode.request(CBOR, Routes.LOAD, slots(number, keys, from(16, 16)))).subscribe(
            reply -> reply.release(), gone -> {});
      }
      socket.dispose();
      while (!mine.tryLock()) {
        Thread.onSpinWait();
      }
      MemorySegment zeros = arena.allocate(region.byteSize());
      region.copyFrom(zeros);
      node.awaitIdle();
      assertThat(region.mismatch(zeros)).as("a slot was written after the lock was free").isEqualTo(-1);

      RSocket next = node.raw("application/cbor");
      assertThatThrownBy(() -> mapped(next)).hasMessageContaining("locked by another");
    }
  }

  @Test
  void cancelledLoad_isDrained_whenItsSlotsAreTheClientsAgain() {
    try (WireNode node = node(Link.SHARED_MEMORY, 64)) {
      RSocket socket = node.raw("application/cbor");
      long number = mapped(socket);
      List<BlockKey> keys = node.keys(0, 16);
      store(socket, number, keys, from(0, 16));
      MemorySegment zeros = arena.allocate(region.byteSize());
      for (int i = 1; i <= 50; i++) {
        socket.requestResponse(WireNode.request(CBOR, Routes.LOAD, slots(number, keys, from(16, 16), i, null)))
            .subscribe(reply -> reply.release(), gone -> {}).dispose();
        ask(socket, Routes.DRAIN, new Messages.DrainRequest(i), Messages.DrainReply.class);
        region.copyFrom(zeros);
        assertThat(region.mismatch(zeros)).isEqualTo(-1);
      }
      assertThat(region.mismatch(zeros)).isEqualTo(-1);
      assertThat(node.server.runningStreams()).isZero();
      node.awaitIdle();
    }
  }

  @Test
  void nodeWithoutAFolder_knowsNoSuchRoute() {
    try (WireNode node = WireNode.of(Link.SHARED_MEMORY, SPACE, WINDOW)) {
      RSocket socket = node.raw("application/cbor");
      assertRefused("route", () -> mapped(socket));
    }
  }
}
