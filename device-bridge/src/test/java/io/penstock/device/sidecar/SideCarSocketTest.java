package io.penstock.device.sidecar;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.KvException;
import io.penstock.device.Device;
import io.penstock.device.SharedName.FabricHandle;
import io.penstock.device.SharedName.IpcKey;
import io.penstock.device.sidecar.RegionSource.FabricBuffer;
import io.penstock.device.sidecar.RegionSource.IpcBuffer;
import io.penstock.device.sidecar.RegionSource.MappedFile;
import io.penstock.device.sidecar.RegionSource.Memfd;
import io.penstock.device.sidecar.client.SideCarClient;
import io.penstock.device.sidecar.server.SideCarServer;
import io.penstock.device.sim.SimulatedDevice;
import io.penstock.device.sim.SimulatedDeviceOptions;
import io.penstock.system.NativeFile;
import io.penstock.system.SocketFile;
import io.penstock.system.SystemCallException;
import io.penstock.testkit.Race;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.net.BindException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

/// The side-car over sockets and memory of the system.
@Timeout(300)
@EnabledOnOs(OS.LINUX)
final class SideCarSocketTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final int BYTES = 3 << 19;
  private static final SideCarClientOptions FAST = SideCarClientOptions.defaults().withTimeToLive(SideCarProcess.LIFE)
      .withBackOff(Duration.ofMillis(1), Duration.ofMillis(20));

  @TempDir
  private Path folder;

  private final List<AutoCloseable> opened = new ArrayList<>();
  private final Device device = SimulatedDevice.open(SimulatedDeviceOptions.defaults(1 << 20));
  private Path path;
  private SideCarServer server;
  private SideCarClient client;

  @BeforeEach
  void open() throws IOException {
    path = folder.resolve("s");
    server = SideCarServer.open(path,
        SideCarServerOptions.defaults().withMaxClients(4).withTimeToLive(SideCarProcess.LIFE), Map.of(0, device));
    client = SideCarClient.open(path, FAST);
    awaitHealthy(client);
  }

  @AfterEach
  void close() throws Exception {
    client.close().block(LIMIT);
    server.close().block(LIMIT);
    device.close().block(LIMIT);
    for (AutoCloseable each : opened) {
      each.close();
    }
    assertThat(server.stat().regions()).isZero();
    assertThat(server.stat().clients()).isZero();
    assertThat(Mappings.of(ProcessHandle.current().pid(), "sidecar-test")).isEmpty();
  }

  private static void awaitHealthy(SideCarClient who) {
    who.health().filter(SideCarHealth::isHealthy).next().block(LIMIT);
  }

  private RegionMemory memory(String name) throws IOException {
    RegionMemory made = RegionMemory.allocate("sidecar-test-" + name, BYTES);
    opened.add(made);
    return made;
  }

  private RegionMemory file(String name) throws IOException {
    RegionMemory made = RegionMemory.map(Files.createFile(folder.resolve(name)), BYTES);
    opened.add(made);
    return made;
  }

  private static SideCarCode code(Mono<?> call) {
    return failure(call).code();
  }

  private static SideCarFailure failure(Mono<?> call) {
    try {
      call.block(LIMIT);
      throw new AssertionError("must fail");
    } catch (KvException e) {
      return (SideCarFailure) e;
    }
  }

  private static void fill(MemorySegment memory, long seed) {
    byte[] bytes = new byte[(int) memory.byteSize()];
    new Random(seed).nextBytes(bytes);
    memory.copyFrom(MemorySegment.ofArray(bytes));
  }

  private void copyAll(RegionMemory from, long fromId, RegionMemory to, long toId, long seed) {
    fill(from.memory(), seed);
    client.copy(List.of(new RegionCopy(fromId, 0, toId, 0, BYTES))).block(LIMIT);
    assertThat(to.memory().mismatch(from.memory())).as("%s to %s", fromId, toId).isEqualTo(-1);
  }

  @Test
  void memfdsAndFiles_areCopiedEitherWay() throws IOException {
    RegionMemory[] all = {memory("a"), memory("b"), file("c"), file("d")};
    for (int i = 0; i < all.length; i++) {
      client.register(all[i].region(i + 1)).block(LIMIT);
    }
    for (int i = 0; i < all.length; i++) {
      for (int j = 0; j < all.length; j++) {
        if (i != j) {
          copyAll(all[i], i + 1, all[j], j + 1, 10 * i + j);
        }
      }
    }
    assertThat(server.stat().copies()).isEqualTo(12);
    assertThat(Mappings.of(ProcessHandle.current().pid(), "sidecar-test"))
        .isEqualTo(Map.of("sidecar-test-a", 2, "sidecar-test-b", 2));
    client.unregister(1).block(LIMIT);
    assertThat(Mappings.of(ProcessHandle.current().pid(), "sidecar-test"))
        .isEqualTo(Map.of("sidecar-test-a", 1, "sidecar-test-b", 2));
  }

  @Test
  void memory_thatMayShrink_isRefused() throws IOException {
    NativeFile unsealed = NativeFile.memfd("sidecar-test-unsealed", BYTES);
    opened.add(unsealed::close);
    assertThat(code(client.register(new RegionSpec(1, BYTES, new Memfd(unsealed.number())))))
        .isEqualTo(SideCarCode.UNSEALED);
    RegionMemory sealed = memory("sealed");
    NativeFile again =
        NativeFile.open(Path.of("/proc/self/fd/" + ((Memfd) sealed.region(1).source()).descriptor()));
    opened.add(again::close);
    assertThatThrownBy(() -> again.resize(1)).isInstanceOf(SystemCallException.class);
  }

  @Test
  void file_cutShort_failsTheCopy_andTheNodeLivesOn() throws IOException {
    RegionMemory memory = memory("a");
    RegionMemory file = file("c");
    client.register(memory.region(1)).block(LIMIT);
    client.register(file.region(2)).block(LIMIT);
    try (FileChannel channel = FileChannel.open(folder.resolve("c"), StandardOpenOption.WRITE)) {
      channel.truncate(100);
    }
    RegionCopy out = new RegionCopy(2, 0, 1, 0, BYTES);
    RegionCopy in = new RegionCopy(1, 0, 2, 0, BYTES);
    assertThat(code(client.copy(List.of(out)))).isEqualTo(SideCarCode.COPY_FAILED);
    assertThat(code(client.copy(List.of(in)))).isEqualTo(SideCarCode.COPY_FAILED);
    assertThat(Files.size(folder.resolve("c"))).isEqualTo(100);
    client.copy(List.of(new RegionCopy(2, 0, 1, 0, 100))).block(LIMIT);
  }

  /// Longer than what is copied as short work: each element is a part of its own.
  @Test
  void copy_ofWhichAllPartsFail_saysWhyTheFirstDid() throws IOException {
    int bytes = 3 << 20;
    RegionMemory memory = RegionMemory.allocate("sidecar-test-long", bytes);
    RegionMemory file = RegionMemory.map(Files.createFile(folder.resolve("long")), bytes);
    opened.addAll(List.of(memory, file));
    client.register(memory.region(1)).block(LIMIT);
    client.register(file.region(2)).block(LIMIT);
    try (FileChannel channel = FileChannel.open(folder.resolve("long"), StandardOpenOption.WRITE)) {
      channel.truncate(100);
    }
    RegionCopy all = new RegionCopy(2, 0, 1, 0, bytes);
    String one = failure(client.copy(List.of(all))).found();
    assertThat(failure(client.copy(List.of(all, all))).found()).isEqualTo(one);
  }

  @Test
  void memory_ofOthersOrOfAnotherKind_isRefused() throws IOException {
    Path plain = Files.write(folder.resolve("plain"), new byte[10]);
    NativeFile noMemfd = NativeFile.openNoLink(plain);
    opened.add(noMemfd::close);
    assertThat(code(client.register(new RegionSpec(1, 10, new Memfd(noMemfd.number())))))
        .isEqualTo(SideCarCode.FORBIDDEN);
    assertThat(code(client.register(new RegionSpec(1, 10, new Memfd(1 << 20))))).isEqualTo(SideCarCode.NOT_MAPPED);
    assertThat(code(client.register(new RegionSpec(1, 11, new MappedFile(plain))))).isEqualTo(SideCarCode.MISMATCH);
    for (Path odd : List.of(folder, Path.of("/dev/zero"), Path.of("/proc/self/mem"),
        Files.createSymbolicLink(folder.resolve("link"), plain))) {
      assertThat(code(client.register(new RegionSpec(1, 10, new MappedFile(odd))))).as("%s", odd)
          .isIn(SideCarCode.FORBIDDEN, SideCarCode.NOT_MAPPED, SideCarCode.MISMATCH);
    }
    RegionMemory sealed = memory("long");
    assertThat(code(client.register(new RegionSpec(1, BYTES + 1, sealed.region(1).source()))))
        .isEqualTo(SideCarCode.MISMATCH);
    assertThat(server.stat().regions()).isZero();
  }

  @Test
  void file_ofAnotherUser_isRefused() throws IOException {
    Path theirs = Files.write(folder.resolve("theirs"), new byte[10]);
    assumeTrue("root".equals(System.getProperty("user.name")), "only root can give a file away");
    Files.setOwner(theirs, theirs.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName("daemon"));
    assertThat(code(client.register(new RegionSpec(1, 10, new MappedFile(theirs))))).isEqualTo(SideCarCode.FORBIDDEN);
  }

  @Test
  void deviceMemory_thatTheDeviceCannotReach_isRefused() {
    IpcKey key = IpcKey.of(new byte[IpcKey.BYTES]);
    FabricHandle handle = FabricHandle.of(new byte[FabricHandle.BYTES]);
    assertThat(code(client.register(new RegionSpec(1, 10, new FabricBuffer(0, handle)))))
        .isEqualTo(SideCarCode.UNSUPPORTED);
    assertThat(code(client.register(new RegionSpec(1, 10, new IpcBuffer(0, key))))).as("a key that is of no memory")
        .isEqualTo(SideCarCode.NOT_MAPPED);
    assertThat(code(client.register(new RegionSpec(1, 10, new IpcBuffer(7, key)))))
        .isEqualTo(SideCarCode.UNSUPPORTED);
  }

  @Test
  void path_isThisUsersAlone_heldAgainstAnother_andTakenFromTheDead() throws IOException {
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path))).isEqualTo("rw-------");
    assertThatThrownBy(() -> SideCarServer.open(path, SideCarServerOptions.defaults(), Map.of()))
        .isInstanceOf(BindException.class);
    Path stale = folder.resolve("stale");
    try (var dead = java.nio.channels.ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      dead.bind(UnixDomainSocketAddress.of(stale));
    }
    assertThat(stale).exists();
    SideCarServer.open(stale, SideCarServerOptions.defaults(), Map.of()).close().block(LIMIT);
    assertThat(stale).doesNotExist();
    Path taken = Files.createFile(folder.resolve("taken"));
    assertThatThrownBy(() -> SideCarServer.open(taken, SideCarServerOptions.defaults(), Map.of()))
        .isInstanceOf(BindException.class);
    assertThat(taken).exists();
    try (var files = Files.list(folder)) {
      assertThat(files).as("no locks are left").containsExactlyInAnyOrder(path, folder.resolve("s.lock"), taken);
    }
  }

  @Test
  void path_isHeld_alsoAfterAnotherNodeOfThisProcessWasRefused() throws IOException {
    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(() -> SideCarServer.open(path, SideCarServerOptions.defaults(), Map.of()))
          .isInstanceOf(BindException.class);
    }
    NativeFile lock = NativeFile.openNoLink(folder.resolve("s.lock"));
    opened.add(lock::close);
    assertThat(lock.tryLock()).isFalse();
    server.close().block(LIMIT);
    assertThat(folder.resolve("s.lock")).doesNotExist();
    assertThat(lock.tryLock()).as("a lock without a path").isTrue();
    server = SideCarServer.open(path, SideCarServerOptions.defaults().withTimeToLive(SideCarProcess.LIFE),
        Map.of(0, device));
    awaitHealthy(client);
  }

  @Test
  void path_isNeverHeldTwice_howeverManyTakeItAndLetGo() {
    Path contended = folder.resolve("contended");
    AtomicInteger holders = new AtomicInteger();
    AtomicInteger held = new AtomicInteger();
    Runnable taking = () -> {
      try {
        SocketFile mine = SocketFile.claim(contended);
        assertThat(holders.incrementAndGet()).isEqualTo(1);
        held.incrementAndGet();
        holders.decrementAndGet();
        mine.close();
      } catch (BindException another) {
        assertThat(another).hasMessageContaining("must be a path that no other node uses (was in use)");
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    };
    try (Race race = new Race(3)) {
      for (int round = 0; round < 300; round++) {
        race.run(taking, taking, taking);
      }
    }
    assertThat(held.get()).isGreaterThanOrEqualTo(300);
    assertThat(folder.resolve("contended.lock")).doesNotExist();
  }

  @Test
  void node_begunAnew_getsAllRegionsBack() throws IOException {
    RegionMemory from = memory("a");
    RegionMemory to = memory("b");
    client.register(from.region(1)).block(LIMIT);
    client.register(to.region(2)).block(LIMIT);
    for (int round = 0; round < 5; round++) {
      server.close().block(LIMIT);
      assertThat(Mappings.of(ProcessHandle.current().pid(), "sidecar-test"))
          .isEqualTo(Map.of("sidecar-test-a", 1, "sidecar-test-b", 1));
      client.health().filter(health -> !health.isHealthy()).next().block(LIMIT);
      server = SideCarServer.open(path, SideCarServerOptions.defaults().withTimeToLive(SideCarProcess.LIFE), Map.of());
      awaitHealthy(client);
      copyAll(from, 1, to, 2, round);
      assertThat(Mappings.of(ProcessHandle.current().pid(), "sidecar-test"))
          .isEqualTo(Map.of("sidecar-test-a", 2, "sidecar-test-b", 2));
    }
  }

  @Test
  void strangers_whoSendAnything_areHungUpOn_andTheNodeLivesOn() throws IOException {
    for (int seed = 0; seed < 100; seed++) {
      Random random = new Random(seed);
      byte[] garbage = new byte[1 + random.nextInt(100)];
      random.nextBytes(garbage);
      if (random.nextBoolean()) {
        ByteBuffer.wrap(garbage).put(new byte[Math.min(3, garbage.length)]); // a length that may be right
      }
      try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(path))) {
        channel.write(ByteBuffer.wrap(garbage));
        channel.shutdownOutput();
        ByteBuffer answer = ByteBuffer.allocate(4096);
        while (channel.read(answer) >= 0) {
          assertThat(answer.hasRemaining()).as("seed %s", seed).isTrue();
        }
      } catch (IOException e) { // hung up on in the midst of it
        assertThat(e).as("seed %s", seed).isNotNull();
      }
    }
    client.register(memory("a").region(1)).block(LIMIT);
    assertThat(server.stat().clients()).isEqualTo(1);
  }

  @Test
  void calls_afterClose_failAsClosed() {
    client.close().block(LIMIT);
    assertThat(code(client.copy(List.of(new RegionCopy(1, 0, 2, 0, 1))))).isEqualTo(SideCarCode.CLOSED);
    assertThat(requireNonNull(client.state(1).block(LIMIT))).isEqualTo(RegionState.UNREACHABLE);
  }
}
