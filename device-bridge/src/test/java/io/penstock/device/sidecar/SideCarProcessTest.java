package io.penstock.device.sidecar;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.device.Device;
import io.penstock.device.ascend.AscendDevice;
import io.penstock.device.ascend.AscendDevices;
import io.penstock.device.ascend.AscendListener;
import io.penstock.device.ascend.AscendOptions;
import io.penstock.device.ascend.DriverDouble;
import io.penstock.device.ascend.DriverDouble.Profile;
import io.penstock.device.sidecar.client.SideCarClient;
import io.penstock.device.sidecar.server.SideCarServer;
import io.penstock.testkit.Eventually;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/// A node and a process that uses it, in two JVMs, of which either is killed at a random point under traffic, over and
/// over: afterwards every buffer is of use, none is mapped twice, and none is mapped for the dead.
@EnabledOnOs(OS.LINUX)
final class SideCarProcessTest {
  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final String NAME = "sidecar-process-";
  private static final long SEED = 20_261_121;

  @TempDir
  private Path folder;

  private DriverDouble driver;
  private AscendDevices devices;
  private AscendDevice device;
  private Path path;
  private Path err;

  @BeforeEach
  void open() {
    driver = DriverDouble.of(Profile.CANN_90).reset(1, 64 << 20);
    devices =
        AscendDevices.find(AscendOptions.defaults().withLibrary(driver.path()), AscendListener.noop()).orElseThrow();
    device = requireNonNull(devices.open(0).block(LIMIT));
    path = folder.resolve("socket");
    err = folder.resolve("err");
  }

  @AfterEach
  void close() {
    device.close().block(LIMIT);
    devices.close().block(LIMIT);
    assertThat(Mappings.of(ProcessHandle.current().pid(), NAME)).isEmpty();
  }

  @Test
  @Timeout(600)
  void node_killedUnderTraffic_isBackWithEveryBuffer() throws Exception {
    killNodes(1);
  }

  @Test
  @Timeout(600)
  void client_killedUnderTraffic_leavesNothing() throws Exception {
    killClients(1);
  }

  @Test
  @Tag("proof")
  @Timeout(3600)
  void node_killedUnderTraffic_isBackWithEveryBuffer_500Times() throws Exception {
    killNodes(500);
  }

  @Test
  @Tag("proof")
  @Timeout(3600)
  void client_killedUnderTraffic_leavesNothing_500Times() throws Exception {
    killClients(500);
  }

  private SideCarProcess begin(String role, String name) throws IOException {
    return SideCarProcess.begin(err, role, path.toString(), driver.path(), name);
  }

  private void killNodes(int times) throws Exception {
    Random random = new Random(SEED);
    SideCarProcess node = begin("node", "");
    node.go();
    SideCarClient client = SideCarClient.open(path, SideCarClientOptions.defaults().withTimeToLive(SideCarProcess.LIFE)
        .withBackOff(Duration.ofMillis(1), Duration.ofMillis(50)));
    try (SharedBuffers buffers = new SharedBuffers(client, folder, NAME, device)) {
      assertThat(node.line()).isEqualTo("ready");
      buffers.awaitHealthy();
      buffers.register();
      int descriptors = 0;
      for (int cycle = 0; cycle < times; cycle++) {
        SideCarProcess next = begin("node", "");
        CountDownLatch ended = new CountDownLatch(1);
        AtomicReference<Throwable> odd = new AtomicReference<>();
        buffers.traffic(SEED + cycle).subscribe(nothing -> {}, error -> {
          odd.set(error);
          ended.countDown();
        }, ended::countDown);
        long until = buffers.copies() + random.nextInt(200);
        await(() -> buffers.copies() >= until, "traffic, cycle " + cycle);
        node.kill();
        assertThat(ended.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).as("calls end, cycle %s", cycle).isTrue();
        assertThat(odd.get()).as("cycle %s", cycle).isNull();
        node = next;
        node.go();
        if (random.nextInt(4) == 0) { // once more, somewhere on the way to being healthy
          assertThat(node.line()).isEqualTo("ready");
          Thread.onSpinWait();
          node.kill();
          node = begin("node", "");
          node.go();
        }
        assertThat(node.line()).isEqualTo("ready");
        buffers.awaitHealthy();
        buffers.requireUsable(SEED + cycle);
        assertThat(Mappings.of(node.pid(), NAME)).as("mapped once, cycle %s", cycle)
            .isEqualTo(Map.of(NAME + "a", 1, NAME + "b", 1));
        assertThat(Mappings.of(ProcessHandle.current().pid(), NAME)).isEqualTo(Map.of(NAME + "a", 1, NAME + "b", 1));
        descriptors = requireNoMore(descriptors, cycle);
      }
      client.close().block(LIMIT);
      assertThat(Mappings.of(node.pid(), NAME)).as("unmapped at the end").isEmpty();
    } finally {
      node.close();
    }
  }

  /// Open files must not become more from cycle to cycle.
  private static int requireNoMore(int before, int cycle) {
    int now = Mappings.descriptors(ProcessHandle.current().pid());
    if (cycle > 0) {
      assertThat(now).as("open files, cycle %s", cycle).isLessThan(before + 20);
    }
    return cycle > 0 ? before : now;
  }

  private void killClients(int times) throws Exception {
    Random random = new Random(SEED);
    SideCarServer node = SideCarServer.open(path, SideCarServerOptions.defaults().withTimeToLive(SideCarProcess.LIFE),
        Map.<Integer, Device>of(0, device));
    SideCarProcess client = begin("client", NAME);
    try {
      for (int cycle = 0; cycle < times; cycle++) {
        SideCarProcess next = begin("client", NAME);
        client.go();
        if (random.nextInt(4) == 0) { // while it registers
          int regions = random.nextInt(5);
          await(() -> node.stat().regions() >= regions, "regions, cycle " + cycle);
        } else {
          assertThat(client.line()).as("cycle %s", cycle).isEqualTo("usable");
          assertThat(Mappings.of(ProcessHandle.current().pid(), NAME)).isEqualTo(Map.of(NAME + "a", 1, NAME + "b", 1));
          long until = node.stat().copies() + random.nextInt(200);
          await(() -> node.stat().copies() >= until, "traffic, cycle " + cycle);
        }
        client.kill();
        await(() -> node.stat().clients() == 0, "the dead to be gone, cycle " + cycle);
        assertThat(node.stat().regions()).isZero();
        assertThat(Mappings.of(ProcessHandle.current().pid(), NAME)).as("mapped for the dead, cycle %s", cycle)
            .isEmpty();
        client = next;
      }
    } finally {
      client.kill();
      node.close().block(LIMIT);
    }
  }

  private static void await(BooleanSupplier condition, String what) {
    Eventually.holds(what, LIMIT, condition::getAsBoolean);
  }
}
