package io.penstock.device.ascend;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockScope;
import io.penstock.device.ascend.DriverDouble.Call;
import io.penstock.device.ascend.DriverDouble.Profile;
import io.penstock.device.memory.MemoryListener;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Requests whose elements go every way between every kind of memory, and end in another order than they were asked
/// for.
@Timeout(120)
final class AscendMixedCopiesTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final int BYTES = 256;
  private static final int LINK_ERROR = 507_056;
  private static final long SEED = 20_261_121;

  private final Arena memory = Arena.ofShared();
  private final BlockScope scope = new BlockScope();
  private AscendDevices devices;
  private List<AscendDevice> opened = List.of();

  private DriverDouble open(Profile profile, int count) {
    DriverDouble driver = DriverDouble.of(profile).reset(count, 64 << 20);
    devices =
        AscendDevices.find(AscendOptions.defaults().withLibrary(driver.path()), AscendListener.noop()).orElseThrow();
    opened = IntStream.range(0, count).mapToObj(id -> devices.open(id).blockOptional(LIMIT).orElseThrow()).toList();
    return driver;
  }

  @AfterEach
  void closeAll() {
    scope.close();
    opened.forEach(device -> device.close().block(LIMIT));
    devices.close().block(LIMIT);
    memory.close();
  }

  /// A request of one device, and the bytes that it is to move.
  private final class Mixed {
    private final AscendDevice device;
    private final int elements;
    private final MemorySegment plain;
    private final MemorySegment ofDriver;
    private final MemorySegment back;
    private final long there;
    private final long elsewhere;
    private final int[] ways;
    private final CopyRequest request;

    Mixed(AscendDevice device, int elements) {
      this.device = device;
      this.elements = elements;
      long bytes = at(elements);
      plain = memory.allocate(bytes, 64);
      back = memory.allocate(bytes, 64);
      ofDriver = requireNonNull(device.hostMemory(MemoryListener.noop()).allocate(bytes, scope).block(LIMIT)).segment();
      there = requireNonNull(device.allocate(bytes, scope).block(LIMIT)).address();
      elsewhere = requireNonNull(device.allocate(bytes, scope).block(LIMIT)).address();
      Random random = new Random(SEED + device.ordinal());
      byte[] content = new byte[(int) bytes];
      random.nextBytes(content);
      MemorySegment.copy(content, 0, plain, JAVA_BYTE, 0, content.length);
      MemorySegment.copy(content, 0, ofDriver, JAVA_BYTE, 0, content.length);
      ways = random.ints(elements, 0, 4).toArray();
      request = new CopyRequest(elements);
      for (int i = 0; i < elements; i++) {
        MemorySegment source = random.nextBoolean() ? plain : ofDriver;
        boolean fromDevice = ways[i] == 1 || ways[i] == 2;
        boolean toDevice = ways[i] == 0 || ways[i] == 2;
        request.add((fromDevice ? there : source.address()) + at(i), (toDevice ? elsewhere : back.address()) + at(i),
            BYTES);
      }
      CopyRequest first = new CopyRequest(elements);
      for (int i = 0; i < elements; i++) {
        first.add(plain.address() + at(i), there + at(i), BYTES);
      }
      assertThat(device.copy(first).block(LIMIT)).matches(CopyReport::isComplete);
    }

    private static long at(int element) {
      return (long) element * BYTES;
    }

    CompletableFuture<CopyReport> copy() {
      return device.copy(request).toFuture();
    }

    /// Copies everything back and compares each element whose result is "copied".
    ///
    /// @return elements with another result
    int requireRight() {
      CopyRequest rest = new CopyRequest(elements);
      int failed = 0;
      for (int i = 0; i < elements; i++) {
        if (request.result(i) != CopyRequest.COPIED) {
          failed++;
        } else if (ways[i] == 0 || ways[i] == 2) {
          rest.add(elsewhere + at(i), back.address() + at(i), BYTES);
        }
      }
      assertThat(device.copy(rest).block(LIMIT)).matches(CopyReport::isComplete);
      for (int i = 0; i < elements; i++) {
        long same = MemorySegment.mismatch(plain, at(i), at(i) + BYTES, back, at(i), at(i) + BYTES);
        assertThat(same < 0).as("element %d, way %d, seed %d", i, ways[i], SEED)
            .isEqualTo(request.result(i) == CopyRequest.COPIED);
      }
      return failed;
    }
  }

  @ParameterizedTest
  @EnumSource
  void elements_endInAnyOrder_eachWithItsOwnResult(Profile profile) {
    DriverDouble driver = open(profile, 1);
    driver.record(false);
    Mixed mixed = new Mixed(opened.getFirst(), 6_000);
    driver.fail("aclrtMemcpyAsync", 100, 3, LINK_ERROR, -1);
    driver.fail("aclrtMemcpy", 7, 1, LINK_ERROR, -1);
    CopyReport report = mixed.copy().join();

    assertThat(report.failed()).isEqualTo(4);
    assertThat(report.code()).isEqualTo(LINK_ERROR);
    assertThat(report.calls().batches()).isEqualTo(2);
    assertThat(mixed.requireRight()).isEqualTo(4);
  }

  @Test
  void sixteenDevices_everyWayAndKind_sideBySide() {
    DriverDouble driver = open(Profile.CANN_90, 16);
    List<Mixed> all = opened.stream().map(device -> new Mixed(device, 100)).toList();
    driver.batchUnsupported(5);
    List<CompletableFuture<CopyReport>> copied = all.stream().map(Mixed::copy).toList();

    copied.forEach(each -> assertThat(each.join()).matches(CopyReport::isComplete));
    all.forEach(each -> assertThat(each.requireRight()).isZero());
    assertThat(copied.get(5).join().calls().fallbacks()).isOne();
    assertThat(driver.log().stream().filter(call -> call.function().startsWith("aclrtMemcpy"))
        .collect(Collectors.groupingBy(Call::device, Collectors.mapping(Call::thread, Collectors.toSet()))))
        .hasSize(16).allSatisfy((device, threads) -> assertThat(threads).as("threads of device %d", device).hasSize(1));
  }
}
