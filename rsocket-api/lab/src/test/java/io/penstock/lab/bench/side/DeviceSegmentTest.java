package io.penstock.lab.bench.side;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockScope;
import io.penstock.device.Device;
import io.penstock.device.DeviceMemory;
import io.penstock.device.ascend.AscendDevices;
import io.penstock.device.ascend.AscendListener;
import io.penstock.device.ascend.AscendOptions;
import io.penstock.device.ascend.DriverDouble;
import io.penstock.device.sim.SimulatedDevice;
import io.penstock.device.sim.SimulatedDeviceOptions;
import io.penstock.lab.bench.side.DeviceSegment.Buffers;
import io.penstock.wire.transfer.StagedMemory;
import io.penstock.wire.transfer.StagedMemory.Part;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

/// Memory of a device, of the simulation and of the double of the driver, as a segment.
@Timeout(60)
final class DeviceSegmentTest {
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final int BYTES = 1 << 20;
  private static final int BUFFER = 4096;

  private final Arena arena = Arena.ofShared();
  private final BlockScope scope = new BlockScope();
  private final Buffers buffers = new Buffers("staging", arena.allocate(16 * BUFFER, 64), BUFFER, 4);
  private Device device;
  private DeviceSegment segment;

  private void open(String kind) {
    device = kind.equals("simulated")
        ? SimulatedDevice.open(SimulatedDeviceOptions.defaults(BYTES))
        : ascend();
    DeviceMemory memory = now(device.allocate(BYTES, scope));
    segment = new DeviceSegment(device, memory, buffers);
  }

  private static Device ascend() {
    DriverDouble driver = DriverDouble.of(DriverDouble.Profile.CANN_90);
    driver.reset(1, 64 << 20);
    AscendDevices devices =
        AscendDevices.find(AscendOptions.defaults().withLibrary(driver.path()), AscendListener.noop()).orElseThrow();
    return now(devices.open(0));
  }

  private static <T> T now(Mono<? extends T> work) {
    return requireNonNull(work.block(PATIENCE));
  }

  @AfterEach
  void close() {
    scope.close();
    device.close().block(PATIENCE);
    assertThat(buffers.permits().inUse()).isZero();
    arena.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"simulated", "ascend"})
  void bytesGoThereAndBack_cutAtPartsAndBuffers(String kind) {
    open(kind);
    List<Part> parts = List.of(new Part(10, 5000), new Part(500_000, 1), new Part(100_000, 20_000));
    byte[] sent = new byte[25_001];
    for (int i = 0; i < sent.length; i++) {
      sent[i] = (byte) (i * 31 % 251);
    }
    try (BlockScope own = new BlockScope()) {
      StagedMemory.Staging staging = now(segment.stage(parts, own));
      write(staging, sent);
      staging.store().block(PATIENCE);
    }
    try (BlockScope own = new BlockScope()) {
      StagedMemory.Staging staging = now(segment.stage(parts, own));
      write(staging, new byte[25_001]);
      staging.fetch().block(PATIENCE);
      assertThat(read(staging)).isEqualTo(sent);
    }
    try (BlockScope own = new BlockScope()) {
      StagedMemory.Staging between = now(segment.stage(List.of(new Part(100_000 - 8, 16)), own));
      between.fetch().block(PATIENCE);
      assertThat(read(between)).startsWith(new byte[8]).endsWith(Arrays.copyOfRange(sent, 5001, 5009));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"simulated"})
  void anOperation_waitsForBuffers_andOneThatIsTooLargeIsRefused(String kind) {
    open(kind);
    BlockScope first = new BlockScope();
    now(segment.stage(List.of(new Part(0, 15 * BUFFER)), first));
    AtomicReference<StagedMemory.Staging> second = new AtomicReference<>();
    BlockScope later = new BlockScope();
    segment.stage(List.of(new Part(0, 2 * BUFFER)), later).subscribe(second::set);
    segment.stage(List.of(new Part(0, BUFFER)), later).subscribe().dispose();
    assertThat(second.get()).isNull();
    assertThatThrownBy(() -> segment.stage(List.of(new Part(0, 16 * BUFFER + 1)), later))
        .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("65536");

    first.close();

    assertThat(second.get()).isNotNull();
    assertThat(buffers.permits().inUse()).isEqualTo(2);
    later.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"simulated"})
  void buffersOfACopyThatFails_goBack(String kind) {
    open(kind);
    BlockScope own = new BlockScope();
    StagedMemory.Staging staging = now(segment.stage(List.of(new Part(BYTES, 100)), own)); // beyond the memory
    assertThatThrownBy(() -> staging.fetch().block(PATIENCE)).hasMessageContaining("element");
    assertThat(buffers.permits().inUse()).isOne();
    own.close();
  }

  private static void write(StagedMemory.Staging staging, byte[] bytes) {
    int at = 0;
    for (MemorySegment piece : staging.host()) {
      MemorySegment.copy(bytes, at, piece, ValueLayout.JAVA_BYTE, 0, (int) piece.byteSize());
      at += (int) piece.byteSize();
    }
    assertThat(at).isEqualTo(bytes.length);
  }

  private static byte[] read(StagedMemory.Staging staging) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    staging.host().forEach(piece -> bytes.writeBytes(piece.toArray(ValueLayout.JAVA_BYTE)));
    return bytes.toByteArray();
  }
}
