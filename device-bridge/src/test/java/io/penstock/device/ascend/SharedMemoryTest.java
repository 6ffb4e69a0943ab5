package io.penstock.device.ascend;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockScope;
import io.penstock.device.DeviceMemory;
import io.penstock.device.SharedName.FabricHandle;
import io.penstock.device.SharedName.IpcKey;
import io.penstock.device.ascend.DriverDouble.Call;
import io.penstock.device.ascend.DriverDouble.Profile;
import io.penstock.device.ascend.failure.AlreadyImportedException;
import io.penstock.device.ascend.failure.AscendFailure.AscendRefusedException;
import io.penstock.device.ascend.failure.AscendFailure.AscendUnsupportedException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Device memory of one owner that another one maps, here both in this process.
@Timeout(120)
final class SharedMemoryTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final int BYTES = 1 << 16;
  private static final long SEED = 20_261_121;
  private static final int INVALID = 107_000;

  private static DriverDouble driver;

  private final Arena arena = Arena.ofShared();
  private final BlockScope theirs = new BlockScope();
  private final BlockScope ours = new BlockScope();
  private AscendDevices devices;
  private AscendDevice owner;
  private AscendDevice guest;

  @BeforeAll
  static void compile() {
    driver = DriverDouble.of(Profile.CANN_90);
  }

  @BeforeEach
  void open() {
    driver.reset(2, 64 << 20);
    devices =
        AscendDevices.find(AscendOptions.defaults().withLibrary(driver.path()), AscendListener.noop()).orElseThrow();
    owner = requireNonNull(devices.open(0).block(LIMIT));
    guest = requireNonNull(devices.open(1).block(LIMIT));
  }

  @AfterEach
  void nothingIsLeft() {
    guest.close().block(LIMIT);
    owner.close().block(LIMIT);
    devices.close().block(LIMIT);
    arena.close();
    assertThat(driver.alive()).isEqualTo(new DriverDouble.Alive(0, 0, 0));
    assertThat(driver.physicals()).isZero();
  }

  private MemorySegment random() {
    byte[] bytes = new byte[BYTES];
    new Random(SEED).nextBytes(bytes);
    return arena.allocateFrom(JAVA_BYTE, bytes);
  }

  private static CopyReport copy(AscendDevice device, long from, long to) {
    CopyRequest request = new CopyRequest(1);
    request.add(from, to, BYTES);
    return requireNonNull(device.copy(request).block(LIMIT));
  }

  private List<String> calls(String... functions) {
    return driver.log().stream().map(Call::function).filter(List.of(functions)::contains).toList();
  }

  @Test
  void importedMemory_hasTheOwnersBytes_andCopiesInBatches() {
    MemorySegment source = random();
    MemorySegment back = arena.allocate(BYTES);
    DeviceMemory memory = requireNonNull(owner.allocate(BYTES, theirs).block(LIMIT));
    IpcKey key = requireNonNull(owner.export(memory).block(LIMIT));
    DeviceMemory shared = requireNonNull(guest.importShared(key, BYTES, ours).block(LIMIT));

    assertThat(copy(owner, source.address(), memory.address()).isComplete()).isTrue();
    CopyReport down = copy(guest, shared.address(), back.address());

    assertThat(shared.address()).isNotEqualTo(memory.address());
    assertThat(down.calls().batched()).isEqualTo(1);
    assertThat(back.mismatch(source)).isEqualTo(-1);
    assertThat(guest.allocatedBytes()).isZero();
    assertThat(key.toString()).isEqualTo("key of device memory");
  }

  @Test
  void driverWithoutBatchesForImportedMemory_keepsThemForTheRest() {
    MemorySegment source = random();
    DeviceMemory theirMemory = requireNonNull(owner.allocate(BYTES, theirs).block(LIMIT));
    DeviceMemory own = requireNonNull(guest.allocate(BYTES, ours).block(LIMIT));
    IpcKey key = requireNonNull(owner.export(theirMemory).block(LIMIT));
    DeviceMemory shared = requireNonNull(guest.importShared(key, BYTES, ours).block(LIMIT));
    driver.fail("aclrtMemcpyBatch", 1, 1, 207_000, -1);
    CopyReport first = copy(guest, source.address(), shared.address());
    CopyReport later = copy(guest, source.address(), shared.address());
    assertThat(
        List.of(first.calls().fallbacks(), first.calls().single(), later.calls().fallbacks(), later.calls().single()))
        .containsExactly(1, 1, 0,
            1);
    assertThat(copy(guest, source.address(), own.address()).calls().batched()).isEqualTo(1);
    assertThat(copy(owner, source.address(), theirMemory.address()).calls().batched()).isEqualTo(1);
  }

  @Test
  void export_again_isTheSameKey_closedOnceBeforeTheMemoryIsFreed() {
    DeviceMemory memory = requireNonNull(owner.allocate(BYTES, theirs).block(LIMIT));
    IpcKey key = requireNonNull(owner.export(memory).block(LIMIT));
    assertThat(owner.export(memory).block(LIMIT)).isEqualTo(key).isEqualTo(IpcKey.of(key.bytes()));
    theirs.close();
    owner.close().block(LIMIT);
    assertThat(calls("aclrtIpcMemGetExportKey", "aclrtIpcMemClose", "aclrtFree"))
        .containsExactly("aclrtIpcMemGetExportKey", "aclrtIpcMemClose", "aclrtFree");
    assertThat(driver.log()).allMatch(call -> call.code() == 0 || call.function().equals("aclrtGetCurrentContext"));
  }

  @Test
  void export_ofWhatIsNoAllocation_isRefused() {
    DeviceMemory memory = requireNonNull(owner.allocate(BYTES, theirs).block(LIMIT));
    assertThatThrownBy(() -> guest.export(memory).block(LIMIT)).isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(
            "memory must be an allocation of device npu1 (was " + BYTES + " bytes of device memory at ");
    memory.close();
    assertThatThrownBy(() -> owner.export(memory).block(LIMIT)).isInstanceOf(IllegalArgumentException.class);
    assertThat(owner.allocate(BYTES, theirs).block(LIMIT)).as("perhaps at the same address").isNotNull();
    assertThatThrownBy(() -> owner.export(memory).block(LIMIT)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void import_twice_isRefusedUntilTheFirstIsClosed() {
    DeviceMemory memory = requireNonNull(owner.allocate(BYTES, theirs).block(LIMIT));
    IpcKey key = requireNonNull(owner.export(memory).block(LIMIT));
    DeviceMemory first = requireNonNull(guest.importShared(key, BYTES, ours).block(LIMIT));
    assertThatThrownBy(() -> guest.importShared(key, BYTES, ours).block(LIMIT))
        .isInstanceOf(AlreadyImportedException.class)
        .hasMessage("device npu1: this key was already imported");
    first.close();
    assertThat(guest.importShared(key, BYTES, ours).block(LIMIT)).isNotNull();
  }

  @Test
  void import_ofAnUnknownKey_isATypedFailureAndCanBeTriedAgain() {
    IpcKey unknown = IpcKey.of(new byte[IpcKey.BYTES]);
    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(() -> guest.importShared(unknown, BYTES, ours).block(LIMIT))
          .isInstanceOf(AscendRefusedException.class)
          .hasMessageStartingWith("aclrtIpcMemImportByKey must answer 0 (was " + INVALID);
    }
  }

  @Test
  void import_intoAScopeThatIsClosed_isClosedAtOnce() {
    DeviceMemory memory = requireNonNull(owner.allocate(BYTES, theirs).block(LIMIT));
    IpcKey key = requireNonNull(owner.export(memory).block(LIMIT));
    ours.close();
    DeviceMemory late = requireNonNull(guest.importShared(key, BYTES, ours).block(LIMIT));
    assertThat(late.isClosed()).isTrue();
    guest.close().block(LIMIT);
    assertThat(driver.calls("aclrtIpcMemClose")).isEqualTo(1);
  }

  @Test
  void keyOfAnotherLength_isRefused() {
    assertThatThrownBy(() -> IpcKey.of(new byte[64])).hasMessage("key must have 65 bytes (was 64)");
    assertThatThrownBy(() -> FabricHandle.of(new byte[65])).hasMessage("handle must have 128 bytes (was 65)");
  }

  @Test
  void fabricHandle_thatNamesNothing_leavesNothingMapped() {
    FabricHandle unknown = FabricHandle.of(new byte[FabricHandle.BYTES]);
    assertThatThrownBy(() -> guest.importShared(unknown, BYTES, ours).block(LIMIT))
        .isInstanceOf(AscendRefusedException.class).satisfies(Answers.code(INVALID));
    assertThat(driver.calls("aclrtReserveMemAddress")).isZero();
  }

  @Test
  void libraryWithoutFabric_saysSo() {
    DriverDouble older = DriverDouble.of(Profile.CANN_82).reset(1, 1 << 20);
    AscendDevices found =
        AscendDevices.find(AscendOptions.defaults().withLibrary(older.path()), AscendListener.noop()).orElseThrow();
    AscendDevice device = requireNonNull(found.open(0).block(LIMIT));
    assertThatThrownBy(
        () -> device.importShared(FabricHandle.of(new byte[FabricHandle.BYTES]), BYTES, ours).block(LIMIT))
        .isInstanceOf(AscendUnsupportedException.class).hasMessageContaining("aclrtMemImportFromShareableHandleV2");
    device.close().block(LIMIT);
    found.close().block(LIMIT);
  }
}
