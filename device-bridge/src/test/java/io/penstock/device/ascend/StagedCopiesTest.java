package io.penstock.device.ascend;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockScope;
import io.penstock.device.CopyBatch;
import io.penstock.device.CopyDirection;
import io.penstock.device.ascend.CopyReport.Calls;
import io.penstock.device.ascend.DriverDouble.Profile;
import io.penstock.device.memory.MemoryListener;
import io.penstock.device.memory.StagingPool;
import io.penstock.device.memory.StagingSpec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Copies of memory that the device does not know, by way of buffers that it does.
@Timeout(120)
final class StagedCopiesTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final long SEED = 20_261_121;
  private static final int TIMEOUT = 507_046;

  private static DriverDouble driver;

  private final Arena memory = Arena.ofShared();
  private final BlockScope scope = new BlockScope();
  private AscendDevices devices;
  private AscendDevice device;
  private StagingPool pool;

  @BeforeAll
  static void compile() {
    driver = DriverDouble.of(Profile.CANN_90);
  }

  @BeforeEach
  void open() {
    driver.reset(1, 64 << 20);
    devices =
        AscendDevices.find(AscendOptions.defaults().withLibrary(driver.path()), AscendListener.noop()).orElseThrow();
    device = requireNonNull(devices.open(0).block(LIMIT));
    pool = requireNonNull(StagingPool
        .open("staging", StagingSpec.parse("2:1"), 1, device.hostMemory(MemoryListener.noop())).block(LIMIT));
    device.stage(pool).block(LIMIT);
  }

  @AfterEach
  void nothingIsLeft() {
    scope.close();
    device.close().block(LIMIT);
    assertThat(pool.permits().inUse()).isZero();
    pool.close().block(LIMIT);
    devices.close().block(LIMIT);
    assertThat(driver.alive()).isEqualTo(new DriverDouble.Alive(0, 0, 0));
    memory.close();
  }

  private MemorySegment random(long bytes) {
    byte[] random = new byte[(int) bytes];
    new Random(SEED).nextBytes(random);
    return memory.allocate(bytes, 64).copyFrom(MemorySegment.ofArray(random));
  }

  private CopyRequest request(long from, long to, int elements, long bytes) {
    CopyRequest request = new CopyRequest(elements);
    for (int i = 0; i < elements; i++) {
      request.add(from + i * bytes, to + i * bytes, bytes);
    }
    return request;
  }

  private CopyReport copied(CopyRequest request) {
    return requireNonNull(device.copy(request).block(LIMIT));
  }

  /// Both ways, in as many calls as the buffers make of it: 2 MiB a call, and elements do not lie across two buffers.
  @ParameterizedTest
  @CsvSource({"10, 4096, 1, 10", "512, 4096, 1, 512", "513, 4096, 2, 512", "7, 700000, 4, 2", "3, 1048576, 2, 2"})
  void memoryThatTheDeviceDoesNotKnow_goesByWayOfItsBuffers(int elements, long bytes, int calls, int largest) {
    MemorySegment source = random(elements * bytes);
    MemorySegment back = memory.allocate(elements * bytes, 64);
    long there = requireNonNull(device.allocate(elements * bytes, scope).block(LIMIT)).address();

    CopyReport up = copied(request(source.address(), there, elements, bytes));
    CopyReport down = copied(request(there, back.address(), elements, bytes));

    assertThat(up).isEqualTo(new CopyReport(elements, 0, -1, 0, new Calls(calls, elements, largest, 0, 0)))
        .isEqualTo(down);
    assertThat(back.mismatch(source)).as("seed %d", SEED).isEqualTo(-1);
    assertThat(driver.strangers()).isZero();
  }

  @Test
  void batchesOfThePort_too() {
    MemorySegment source = random(8192);
    MemorySegment back = memory.allocate(8192, 64);
    long there = requireNonNull(device.allocate(8192, scope).block(LIMIT)).address();
    device.copy(new CopyBatch(CopyDirection.TO_DEVICE).add(source.asSlice(0, 4096), there).add(source.asSlice(4096),
        there + 4096)).block(LIMIT);
    device.copy(new CopyBatch(CopyDirection.TO_HOST).add(back, there)).block(LIMIT);
    assertThat(back.mismatch(source)).as("seed %d", SEED).isEqualTo(-1);
    assertThat(driver.strangers()).isZero();
  }

  @Test
  void elementLargerThanABuffer_andMemoryThatIsKnown_goAsTheyAre() {
    long bytes = (1 << 20) + 1;
    MemorySegment source = random(bytes);
    MemorySegment back = memory.allocate(bytes, 64);
    long there = requireNonNull(device.allocate(bytes, scope).block(LIMIT)).address();
    assertThat(copied(request(source.address(), there, 1, bytes)).isComplete()).isTrue();
    assertThat(driver.strangers()).isOne();
    device.know(back).block(LIMIT);
    assertThat(copied(request(there, back.address(), 1, 4096)).isComplete()).isTrue();
    assertThat(driver.strangers()).isEqualTo(2);
    assertThat(back.asSlice(0, 4096).mismatch(source.asSlice(0, 4096))).isEqualTo(-1);
  }

  @Test
  void whereOthersHaveAllBuffers_elementsGoAsTheyAre() {
    requireNonNull(pool.acquire(scope).block(LIMIT));
    requireNonNull(pool.acquire(scope).block(LIMIT));
    long there = requireNonNull(device.allocate(4096, scope).block(LIMIT)).address();
    assertThat(copied(request(random(4096).address(), there, 1, 4096)).isComplete()).isTrue();
    assertThat(driver.strangers()).isOne();
  }

  @Test
  void copiesOneByOne_goByWayOfThem_too() {
    driver.batchUnsupported(0);
    MemorySegment source = random(3 << 20);
    MemorySegment back = memory.allocate(3 << 20, 64);
    long there = requireNonNull(device.allocate(3 << 20, scope).block(LIMIT)).address();
    copied(request(source.address(), there, 768, 4096));
    copied(request(there, back.address(), 768, 4096));
    assertThat(back.mismatch(source)).as("seed %d", SEED).isEqualTo(-1);
    assertThat(driver.strangers()).isZero();
    assertThat(driver.copied(CopyMethod.ASYNC)).isEqualTo(2 * 768);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void copiesThatFail_bringNothingHome_andBuffersOfAStuckDeviceStayWithIt(boolean stuck) {
    driver.batchUnsupported(0);
    MemorySegment back = memory.allocate(4096, 64).fill((byte) 5);
    long there = requireNonNull(device.allocate(4096, scope).block(LIMIT)).address();
    driver.fail("aclrtSynchronizeStreamWithTimeout", 1, stuck ? 2 : 1, TIMEOUT, -1);
    if (stuck) {
      driver.fail("aclrtStreamAbort", 1, 1, 500_000, -1);
    }
    assertThat(copied(request(there, back.address(), 1, 4096)).code()).isEqualTo(TIMEOUT);
    assertThat(back.elements(JAVA_BYTE).allMatch(each -> each.get(JAVA_BYTE, 0) == 5)).isTrue();
    assertThat(pool.permits().inUse()).isEqualTo(stuck ? 1 : 0);
    copied(request(there, back.address(), 1, 4096)); // the stuck ones have ended by now
    assertThat(pool.permits().inUse()).isZero();
    assertThat(back.get(JAVA_BYTE, 0)).isZero();
  }
}
