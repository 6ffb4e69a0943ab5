package io.penstock.device.sidecar;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockScope;
import io.penstock.device.DeviceMemory;
import io.penstock.device.SharedName.FabricHandle;
import io.penstock.device.SharedName.IpcKey;
import io.penstock.device.ascend.AscendDevice;
import io.penstock.device.ascend.AscendDevices;
import io.penstock.device.ascend.AscendListener;
import io.penstock.device.ascend.AscendOptions;
import io.penstock.device.ascend.DriverDouble;
import io.penstock.device.ascend.DriverDouble.Profile;
import io.penstock.device.memory.HostMemory;
import io.penstock.device.memory.MemoryListener;
import io.penstock.device.sidecar.RegionSource.FabricBuffer;
import io.penstock.device.sidecar.RegionSource.IpcBuffer;
import io.penstock.device.sidecar.client.SideCarClient;
import io.penstock.device.sidecar.server.SideCarServer;
import io.penstock.tier.TierStat;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Sinks;

/// Buffers of devices behind a library, exported by one device, reached through another.
@Timeout(300)
@EnabledOnOs(OS.LINUX)
final class SideCarDeviceTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final int BYTES = 2_500_000;

  private static DriverDouble driver;

  @TempDir
  private Path folder;

  private final BlockScope scope = new BlockScope();
  private AscendDevices devices;
  private AscendDevice owner;
  private AscendDevice node;
  private AscendDevice other;
  private SideCarServer server;
  private SideCarClient client;

  @BeforeAll
  static void compile() {
    driver = DriverDouble.of(Profile.CANN_90);
  }

  @BeforeEach
  void open() throws IOException {
    driver.reset(3, 64 << 20);
    devices =
        AscendDevices.find(AscendOptions.defaults().withLibrary(driver.path()), AscendListener.noop()).orElseThrow();
    owner = requireNonNull(devices.open(0).block(LIMIT));
    node = requireNonNull(devices.open(1).block(LIMIT));
    other = requireNonNull(devices.open(2).block(LIMIT));
    server = SideCarServer.open(folder.resolve("s"),
        SideCarServerOptions.defaults().withTimeToLive(SideCarProcess.LIFE), Map.of(1, node, 2, other));
    client =
        SideCarClient.open(folder.resolve("s"), SideCarClientOptions.defaults().withTimeToLive(SideCarProcess.LIFE));
    client.health().filter(SideCarHealth::isHealthy).next().block(LIMIT);
  }

  @AfterEach
  void close() {
    client.close().block(LIMIT);
    server.close().block(LIMIT);
    other.close().block(LIMIT);
    node.close().block(LIMIT);
    scope.close();
    owner.close().block(LIMIT);
    devices.close().block(LIMIT);
  }

  private RegionSpec buffer(long id, int through) {
    DeviceMemory memory = requireNonNull(owner.allocate(BYTES, scope).block(LIMIT));
    IpcKey key = requireNonNull(owner.export(memory).block(LIMIT));
    return new RegionSpec(id, BYTES, new IpcBuffer(through, key));
  }

  @Test
  void buffers_onDevices_areCopiedToAndFromHostMemoryAndEachOther() throws IOException {
    try (RegionMemory from = RegionMemory.allocate("from", BYTES);
        RegionMemory to = RegionMemory.allocate("to", BYTES)) {
      byte[] bytes = new byte[BYTES];
      new Random(1).nextBytes(bytes);
      from.memory().asByteBuffer().put(bytes);
      for (RegionSpec region : List.of(from.region(1), to.region(2), buffer(3, 1), buffer(4, 1), buffer(5, 2))) {
        client.register(region).block(LIMIT);
      }
      for (long[] step : new long[][] {{1, 3}, {3, 4}, {4, 5}, {5, 2}}) { // up, inside a device, between two, down
        client.copy(List.of(new RegionCopy(step[0], 0, step[1], 0, BYTES))).block(LIMIT);
      }
      assertThat(to.memory().toArray(JAVA_BYTE)).isEqualTo(bytes);
      assertThat(server.stat().failedCopies()).isZero();
      client.unregister(3).block(LIMIT);
      assertThat(client.state(3).block(LIMIT)).isEqualTo(RegionState.UNMAPPED);
      assertThat(client.state(4).block(LIMIT)).isEqualTo(RegionState.MAPPED);
    }
  }

  @Test
  void copy_toADevice_waitsWithThoseOfBlocks_andIsInTheFiguresOfTheDevice_thatInTheHostIsNot() throws IOException {
    try (RegionMemory from = RegionMemory.allocate("from", BYTES);
        RegionMemory to = RegionMemory.allocate("to", BYTES)) {
      for (RegionSpec region : List.of(from.region(1), to.region(2), buffer(3, 1))) {
        client.register(region).block(LIMIT);
      }
      Sinks.Empty<Void> blocks = Sinks.empty();
      for (int turn = 0; turn < node.turns().limit(); turn++) {
        node.turns().take(taken -> blocks.asMono()).subscribe();
      }
      TierStat.Copies before = node.copies();
      CompletableFuture<Void> copied = client.copy(List.of(new RegionCopy(1, 0, 3, 0, BYTES))).toFuture();
      client.copy(List.of(new RegionCopy(1, 0, 2, 0, BYTES))).block(LIMIT);
      assertThat(node.turns().waiting()).isOne();
      assertThat(copied).isNotDone();
      blocks.tryEmitEmpty();
      assertThat(copied).succeedsWithin(LIMIT);
      assertThat(node.copies().since(before).bytes()).isEqualTo(BYTES);
    }
  }

  @Test
  void fabricMemory_isCopiedToAndFromAllOthers() throws IOException {
    Path plain = Files.createFile(folder.resolve("plain"));
    try (RegionMemory from = RegionMemory.allocate("from", BYTES);
        RegionMemory to = RegionMemory.allocate("to", BYTES);
        RegionMemory file = RegionMemory.map(plain, BYTES)) {
      byte[] bytes = new byte[BYTES];
      new Random(2).nextBytes(bytes);
      from.memory().asByteBuffer().put(bytes);
      HostMemory fabric = requireNonNull(owner.hostMemory(MemoryListener.noop()).allocate(2 << 20, scope).block(LIMIT));
      FabricHandle handle = requireNonNull(owner.export(fabric).block(LIMIT));
      RegionSpec shared = new RegionSpec(6, 2 << 20, new FabricBuffer(1, handle));
      for (RegionSpec region : List.of(from.region(1), to.region(2), buffer(3, 1), file.region(4), buffer(5, 2),
          shared)) {
        client.register(region).block(LIMIT);
      }
      int some = 2 << 20;
      for (long[] step : new long[][] {{1, 6}, {6, 3}, {3, 6}, {6, 4}, {4, 6}, {6, 5}, {5, 6}, {6, 2}}) {
        client.copy(List.of(new RegionCopy(step[0], 0, step[1], 0, some))).block(LIMIT);
      }
      assertThat(to.memory().asSlice(0, some).mismatch(from.memory().asSlice(0, some))).isEqualTo(-1);
    }
  }

  @Test
  void buffer_ofALinkThatWasLost_isMappedAgain() throws IOException {
    try (RegionMemory from = RegionMemory.allocate("from", BYTES);
        RegionMemory to = RegionMemory.allocate("to", BYTES)) {
      from.memory().fill((byte) 7);
      for (RegionSpec region : List.of(buffer(3, 1), from.region(1), to.region(2))) {
        client.register(region).block(LIMIT);
      }
      server.close().block(LIMIT);
      client.health().filter(health -> !health.isHealthy()).next().block(LIMIT);
      server = SideCarServer.open(folder.resolve("s"),
          SideCarServerOptions.defaults().withTimeToLive(SideCarProcess.LIFE), Map.of(1, node));
      client.health().filter(SideCarHealth::isHealthy).next().block(LIMIT);
      client.copy(List.of(new RegionCopy(1, 0, 3, 0, BYTES))).block(LIMIT);
      client.copy(List.of(new RegionCopy(3, 0, 2, 0, BYTES))).block(LIMIT);
      assertThat(to.memory().mismatch(from.memory())).isEqualTo(-1);
    }
  }
}
