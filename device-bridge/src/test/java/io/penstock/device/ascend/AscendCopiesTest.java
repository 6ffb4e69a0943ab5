package io.penstock.device.ascend;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockScope;
import io.penstock.block.Owned;
import io.penstock.device.CopyBatch;
import io.penstock.device.CopyDirection;
import io.penstock.device.DeviceFailure.CopyFailedException;
import io.penstock.device.DeviceFailure.DeviceAddressException;
import io.penstock.device.DeviceMemory;
import io.penstock.device.ascend.CopyReport.Calls;
import io.penstock.device.ascend.DriverDouble.Call;
import io.penstock.device.ascend.DriverDouble.Profile;
import io.penstock.device.ascend.failure.AclCode;
import io.penstock.device.ascend.failure.AscendFailure.AscendRefusedException;
import io.penstock.testkit.Eventually;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Which calls make which copies, against a double that keeps the contract of the driver.
@Timeout(120)
final class AscendCopiesTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final int BYTES = 512;
  private static final int NOT_SUPPORTED = 207_000;
  private static final long SEED = 20_261_120;

  private static DriverDouble driver;

  private final Arena memory = Arena.ofShared();
  private final BlockScope scope = new BlockScope();
  private final List<AscendDevice> opened = new ArrayList<>();
  private AscendOptions options = AscendOptions.defaults();
  private AscendDevices devices;

  @BeforeAll
  static void compile() {
    driver = DriverDouble.of(Profile.CANN_90);
  }

  @AfterEach
  void closeAll() {
    opened.forEach(device -> device.close().block(LIMIT));
    if (devices != null) {
      devices.close().block(LIMIT);
      assertThat(driver.alive()).isEqualTo(new DriverDouble.Alive(0, 0, 0));
    }
    scope.close();
    memory.close();
  }

  private AscendDevice open(int ordinal) {
    if (devices == null) {
      driver.reset(16, 256 << 20);
      devices = AscendDevices.find(options.withLibrary(driver.path()), AscendListener.noop()).orElseThrow();
    }
    AscendDevice device = requireNonNull(devices.open(ordinal).block(LIMIT));
    opened.add(device);
    return device;
  }

  /// Bytes to copy, and where they go.
  private final class Job {
    private final AscendDevice device;
    private final MemorySegment source;
    private final MemorySegment back;
    private final long there;
    private final int elements;

    Job(AscendDevice device, int elements) {
      this.device = device;
      this.elements = elements;
      this.source = memory.allocate((long) elements * BYTES, 64);
      this.back = memory.allocate((long) elements * BYTES, 64);
      this.there = requireNonNull(device.allocate((long) elements * BYTES, scope).block(LIMIT)).address();
      byte[] random = new byte[elements * BYTES];
      new Random(SEED).nextBytes(random);
      MemorySegment.copy(random, 0, source, JAVA_BYTE, 0, random.length);
    }

    CopyRequest up() {
      CopyRequest request = new CopyRequest(elements);
      for (int i = 0; i < elements; i++) {
        request.add(source.address() + at(i), there + at(elements - 1 - i), BYTES);
      }
      return request;
    }

    CopyRequest down() {
      CopyRequest request = new CopyRequest(elements);
      for (int i = 0; i < elements; i++) {
        request.add(there + at(elements - 1 - i), back.address() + at(i), BYTES);
      }
      return request;
    }

    private long at(int element) {
      return (long) element * BYTES;
    }

    CopyReport copy(CopyRequest request) {
      return requireNonNull(device.copy(request).block(LIMIT));
    }

    void requireSame() {
      assertThat(back.mismatch(source)).isEqualTo(-1);
    }
  }

  private static List<Integer> results(CopyRequest request) {
    return IntStream.range(0, request.elements()).mapToObj(request::result).toList();
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "4095, 1", "4096, 1", "4097, 2", "10000, 3"})
  void elements_areGatheredInCallsOfAtMost4096(int elements, int calls) {
    Job job = new Job(open(0), elements);
    CopyRequest up = job.up();
    CopyReport there = job.copy(up);
    CopyReport back = job.copy(job.down());

    assertThat(there)
        .isEqualTo(new CopyReport(elements, 0, -1, 0, new Calls(calls, elements, Math.min(4096, elements), 0, 0)))
        .isEqualTo(back);
    assertThat(results(up)).containsOnly(CopyRequest.COPIED);
    assertThat(driver.calls("aclrtMemcpyBatch")).isEqualTo(2L * calls);
    assertThat(driver.copied(CopyMethod.BATCH)).isEqualTo(2L * elements);
    assertThat(driver.log()).filteredOn(call -> call.function().equals("aclrtMemcpyBatch"))
        .allMatch(call -> call.elements() <= 4096 && call.code() == 0);
    job.requireSame();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void notSupported_onAnyChunk_copiesEachElementOnceAndIsRemembered(int chunk) {
    Job job = new Job(open(0), 10_000);
    driver.fail("aclrtMemcpyBatch", chunk, Long.MAX_VALUE, NOT_SUPPORTED, -1);
    CopyReport there = job.copy(job.up());
    long batched = (chunk - 1) * 4096L;

    assertThat(there).isEqualTo(
        new CopyReport(10_000, 0, -1, 0,
            new Calls(chunk, Math.min(10_000, chunk * 4096), 4096, (int) (10_000 - batched), 1)));
    assertThat(driver.copied(CopyMethod.BATCH)).isEqualTo(batched);
    assertThat(driver.copied(CopyMethod.ASYNC)).isEqualTo(10_000 - batched);

    assertThat(job.copy(job.down()).calls().batches()).isZero();
    assertThat(driver.calls("aclrtMemcpyBatch")).isEqualTo(chunk);
    job.requireSame();
  }

  @Test
  void notSupported_onOneDevice_saysNothingOfAnother() {
    Job one = new Job(open(0), 10);
    Job other = new Job(open(1), 10);
    driver.batchUnsupported(0);
    one.copy(one.up());
    assertThat(one.copy(one.up()).calls().batches()).isZero();
    assertThat(other.copy(other.up()).calls().batches()).isOne();
  }

  @ParameterizedTest
  @CsvSource({"false, 10000, 0", "true, 0, 10000"})
  void unsupportedOfTheLibrary_fallsBackWhereItIsToldTo(boolean fallsBack, int failed, int single) {
    options = options.withLibraryUnsupportedFallsBack(fallsBack);
    Job job = new Job(open(0), 10_000);
    driver.fail("aclrtMemcpyBatch", 1, Long.MAX_VALUE, 200_006, -1);
    CopyReport report = job.copy(job.up());
    assertThat(report.failed()).isEqualTo(failed);
    assertThat(report.calls().single()).isEqualTo(single);
  }

  @ParameterizedTest
  @EnumSource
  void anyOtherCode_failsTheElementsOfItsCallAndNoOther(AclCode code) {
    Job job = new Job(open(0), 10_000);
    if (code.number() != NOT_SUPPORTED) {
      driver.fail("aclrtMemcpyBatch", 2, 1, code.number(), 7);
      CopyRequest up = job.up();
      CopyReport report = job.copy(up);

      assertThat(report)
          .isEqualTo(new CopyReport(10_000, 4096, 4096 + 7, code.number(), new Calls(3, 10_000, 4096, 0, 0)));
      assertThat(results(up).subList(0, 4096)).containsOnly(CopyRequest.COPIED);
      assertThat(results(up).subList(4096, 8192)).containsOnly(code.number());
      assertThat(results(up).subList(8192, 10_000)).containsOnly(CopyRequest.COPIED);
      assertThat(driver.copied(CopyMethod.ASYNC)).as("copied again").isZero();
    }
  }

  @Test
  void mixedWays_areSplitAndTheirResultsPutBackInOrder() {
    AscendDevice device = open(0);
    Job job = new Job(device, 64);
    job.copy(job.up());
    MemorySegment inside = memory.allocate(64L * BYTES, 64);
    long elsewhere = requireNonNull(device.allocate(64L * BYTES, scope).block(LIMIT)).address();
    CopyRequest mixed = new CopyRequest(0);
    for (int i = 0; i < 64; i++) {
      switch (i % 4) {
        case 0 -> mixed.add(job.source.address() + job.at(i), elsewhere + job.at(i), BYTES);
        case 1 -> mixed.add(job.there + job.at(63 - i), job.back.address() + job.at(i), BYTES);
        case 2 -> mixed.add(job.there + job.at(63 - i), elsewhere + job.at(i), BYTES);
        default -> mixed.add(job.source.address() + job.at(i), inside.address() + job.at(i), BYTES);
      }
    }
    driver.fail("aclrtMemcpyAsync", 3, 1, 507_056, -1);
    CopyReport report = job.copy(mixed);

    assertThat(report).isEqualTo(new CopyReport(64, 1, 10, 507_056, new Calls(2, 32, 16, 32, 0)));
    for (int i = 0; i < 64; i++) {
      assertThat(mixed.result(i)).as("element %d", i).isEqualTo(i == 10 ? 507_056 : CopyRequest.COPIED);
      MemorySegment source = job.source.asSlice(job.at(i), BYTES);
      if (i % 4 == 1) {
        assertThat(job.back.asSlice(job.at(i), BYTES).mismatch(source)).isEqualTo(-1);
      } else if (i % 4 == 3) {
        assertThat(inside.asSlice(job.at(i), BYTES).mismatch(source)).isEqualTo(-1);
      }
    }
  }

  @Test
  void hostMemory_knownToTheDevice_isNotAskedForElementByElement() {
    Job job = new Job(open(0), 1000);
    job.copy(job.up());
    assertThat(driver.calls("aclrtPointerGetAttributes")).isEqualTo(1000);
    job.device.know(job.source).block(LIMIT);
    job.copy(job.up());
    assertThat(driver.calls("aclrtPointerGetAttributes")).isEqualTo(1000);
  }

  @Test
  void stream_thatIsNotDoneInTime_failsItsElementsAndIsReplaced() {
    Job job = new Job(open(0), 10);
    driver.batchUnsupported(0);
    driver.fail("aclrtSynchronizeStreamWithTimeout", 1, 1, 507_046, -1);
    CopyRequest up = job.up();
    assertThat(job.copy(up)).matches(report -> report.failed() == 10 && report.code() == 507_046);
    assertThat(results(up)).containsOnly(507_046);
    assertThat(driver.log().stream().map(Call::function)).containsSubsequence("aclrtStreamAbort", "aclrtDestroyStream");

    assertThat(job.copy(up.again())).matches(CopyReport::isComplete);
    job.copy(job.down());
    job.requireSame();
  }

  @Test
  void stream_thatCannotBeMade_failsTheElementsWithItsCode() {
    Job job = new Job(open(0), 10);
    driver.batchUnsupported(0);
    driver.fail("aclrtCreateStreamWithConfig", 1, 1, 507_000, -1);
    CopyRequest up = job.up();
    assertThat(job.copy(up).failed()).isEqualTo(10);
    assertThat(results(up)).containsOnly(507_000);
  }

  @Test
  void sixteenDevices_sideBySide_eachInItsOwnContext() {
    List<Job> jobs = IntStream.range(0, 16).mapToObj(i -> new Job(open(i), 500)).toList();
    driver.batchUnsupported(3);
    jobs.stream().map(job -> job.device.copy(job.up()).toFuture()).toList()
        .forEach(done -> assertThat(done.join()).matches(CopyReport::isComplete));
    jobs.stream().map(job -> job.device.copy(job.down()).toFuture()).toList()
        .forEach(done -> assertThat(done.join()).matches(CopyReport::isComplete));
    jobs.forEach(Job::requireSame);
    assertThat(driver.log()).filteredOn(call -> call.function().equals("aclrtMemcpyBatch"))
        .allMatch(call -> call.device() >= 0)
        .extracting(Call::device).containsOnly(IntStream.range(0, 16).boxed().toArray(Integer[]::new));
  }

  @Test
  void memoryOfAnotherDevice_isToldByTheLibraryAndFailsItsCallAlone() {
    AscendDevice device = open(0);
    Job mine = new Job(device, 10);
    Job other = new Job(open(1), 10);
    CopyRequest both = new CopyRequest(20);
    for (int i = 0; i < 10; i++) {
      both.add(mine.source.address() + mine.at(i), mine.there + mine.at(i), BYTES);
      both.add(mine.source.address() + mine.at(i), other.there + mine.at(i), BYTES);
    }
    mine.copy(both);
    for (int i = 0; i < 10; i++) {
      assertThat(both.result(2 * i)).isEqualTo(CopyRequest.COPIED);
      assertThat(both.result(2 * i + 1)).isEqualTo(107_000);
    }
  }

  @Test
  void free_thatFails_keepsNothingElseFromBeingDone() {
    AscendDevice device = open(0);
    DeviceMemory lost = requireNonNull(device.allocate(4096, scope).block(LIMIT));
    driver.fail("aclrtFree", 1, 1, 507_053, -1);
    lost.close();
    Job job = new Job(device, 10);
    assertThat(job.copy(job.up())).matches(CopyReport::isComplete);
    driver.fail("aclrtFree", 2, 1, 507_053, -1);
    assertThatThrownBy(() -> device.close().block(LIMIT)).isInstanceOf(AscendRefusedException.class)
        .satisfies(Answers.code(507_053));
    assertThat(driver.alive().contexts()).isZero();
    opened.clear();
    devices.close().block(LIMIT);
    assertThat(driver.calls("aclFinalize")).isOne();
    devices = null; // two regions stay: the library would not take them back
  }

  @Test
  void close_twice_isCountedOnce() {
    AscendDevice first = open(0);
    Job job = new Job(open(1), 10);
    first.close().block(LIMIT);
    first.close().block(LIMIT);
    devices.close().block(LIMIT);
    assertThat(driver.calls("aclFinalize")).isZero();
    assertThat(job.copy(job.up())).matches(CopyReport::isComplete);
  }

  @Test
  void context_thatCannotBeSet_failsTheBatchAndLetsGoOfIt() {
    AscendDevice device = open(0);
    long there = requireNonNull(device.allocate(BYTES, scope).block(LIMIT)).address();
    AtomicInteger held = new AtomicInteger(1);
    CopyBatch batch = new CopyBatch(CopyDirection.TO_DEVICE).add(memory.allocate(BYTES, 64), there).hold(new Owned() {
      @Override
      protected void free() {
        held.decrementAndGet();
      }
    });
    // the allocation puts back what was there after it was answered
    Eventually.holds("the context was put back", () -> driver.calls("aclrtSetCurrentContext") >= 2);
    driver.fail("aclrtSetCurrentContext", 3, 1, 107_002, -1);
    assertThatThrownBy(() -> device.copy(batch).block(LIMIT)).isInstanceOf(AscendRefusedException.class)
        .satisfies(Answers.code(107_002));
    assertThat(held).hasValue(0);
  }

  @Test
  void stream_thatNeitherEndsNorGivesUp_keepsTheMemoryAndRefusesCopiesUntilItEnds() {
    AscendDevice device = open(0);
    Job job = new Job(device, 10);
    driver.batchUnsupported(0);
    driver.fail("aclrtSynchronizeStreamWithTimeout", 1, 4, 507_046, -1);
    driver.fail("aclrtStreamAbort", 1, 1, 507_000, -1);
    AtomicInteger held = new AtomicInteger(1);
    CopyBatch batch =
        new CopyBatch(CopyDirection.TO_DEVICE).add(job.source.asSlice(0, BYTES), job.there).hold(new Owned() {
          @Override
          protected void free() {
            held.decrementAndGet();
          }
        });
    assertThatThrownBy(() -> device.copy(batch).block(LIMIT)).isInstanceOf(CopyFailedException.class);
    assertThat(held).as("held while the copy may still be made").hasValue(1);
    CopyRequest up = job.up();
    assertThat(job.copy(up).failed()).isEqualTo(10);
    assertThat(driver.copied(CopyMethod.ASYNC)).isZero();

    for (int i = 0; i < 10 && !job.copy(up.again()).isComplete(); i++) {
      assertThat(results(up)).containsOnly(507_046);
    }
    device.copy(new CopyBatch(CopyDirection.TO_DEVICE).add(job.source.asSlice(0, BYTES), job.there)).block(LIMIT);
    assertThat(held).hasValue(0);
    assertThat(results(up)).containsOnly(CopyRequest.COPIED);
  }

  @Test
  void hostMemory_told_isNoAddressOfTheDevice() {
    AscendDevice device = open(0);
    MemorySegment host = memory.allocate(BYTES, 64);
    device.know(host).block(LIMIT);
    assertThatThrownBy(() -> device
        .copy(new CopyBatch(CopyDirection.TO_DEVICE).add(memory.allocate(BYTES, 64), host.address())).block(LIMIT))
        .isInstanceOf(DeviceAddressException.class);
    device.forget(host).block(LIMIT);
  }
}
