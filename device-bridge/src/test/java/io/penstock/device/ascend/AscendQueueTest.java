package io.penstock.device.ascend;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockScope;
import io.penstock.block.Owned;
import io.penstock.device.CopyBatch;
import io.penstock.device.CopyDirection;
import io.penstock.device.CopyTurns;
import io.penstock.device.DeviceFailure.DeviceClosedException;
import io.penstock.device.ascend.DriverDouble.Call;
import io.penstock.device.ascend.DriverDouble.Profile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.test.StepVerifier;

/// Copies that wait: how many are under way, what they hold, and how they end.
@Timeout(120)
final class AscendQueueTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final int BYTES = 512;
  private static final int IN_FLIGHT = 4;

  private static DriverDouble driver;

  private final Arena memory = Arena.ofShared();
  private final BlockScope scope = new BlockScope();
  private final MemorySegment source = memory.allocate(BYTES, 64);
  private final AtomicInteger held = new AtomicInteger();
  private final CountDownLatch gate = new CountDownLatch(1);
  private AscendDevices devices;
  private AscendDevice device;
  private long there;
  private CompletableFuture<Void> gated;

  @BeforeAll
  static void compile() {
    driver = DriverDouble.of(Profile.CANN_90);
  }

  @BeforeEach
  void open() {
    driver.reset(1, 1 << 20);
    devices = AscendDevices
        .find(AscendOptions.defaults().withLibrary(driver.path()).withMaxInFlight(IN_FLIGHT).withMaxQueued(20_000),
            AscendListener.noop())
        .orElseThrow();
    device = requireNonNull(devices.open(0).block(LIMIT));
    there = requireNonNull(device.allocate(BYTES, scope).block(LIMIT)).address();
  }

  @AfterEach
  void close() {
    gate.countDown();
    device.close().block(LIMIT);
    devices.close().block(LIMIT);
    scope.close();
    memory.close();
    assertThat(held).as("holds that stay open").hasValue(0);
    assertThat(driver.alive()).isEqualTo(new DriverDouble.Alive(0, 0, 0));
  }

  private CopyRequest request() {
    held.incrementAndGet();
    return new CopyRequest(1).add(source.address(), there, BYTES).hold(new Owned() {
      @Override
      protected void free() {
        held.decrementAndGet();
      }
    });
  }

  /// Keeps the device's thread busy until the gate opens.
  private void shutGate() {
    CopyBatch waiting = new CopyBatch(CopyDirection.TO_DEVICE).add(source, there).before(() -> {
      try {
        gate.await();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    });
    gated = device.copy(waiting).toFuture();
  }

  private Flux<CopyRequest> requests(int count, AtomicInteger pulled) {
    return Flux.range(0, count).map(i -> {
      pulled.incrementAndGet();
      return request();
    });
  }

  /// As many at a time as the device has turns.
  private Flux<CopyReport> copying(Flux<CopyRequest> requests) {
    CopyTurns turns = device.turns();
    return requests.flatMap(request -> turns.take(turn -> device.copy(request.hold(turn))), turns.limit(), 1);
  }

  @Test
  void copying_whileTheDeviceIsBusy_asksForNoMore_andBlocksNoThread() {
    shutGate();
    AtomicInteger pulledByOne = new AtomicInteger();
    AtomicInteger pulledByOther = new AtomicInteger();
    CompletableFuture<List<CopyReport>> one =
        copying(requests(1000, pulledByOne)).collectList().toFuture();
    CompletableFuture<List<CopyReport>> other =
        copying(requests(1000, pulledByOther)).collectList().toFuture();

    assertThat(pulledByOne).hasValue(IN_FLIGHT);
    assertThat(pulledByOther).hasValue(IN_FLIGHT);
    assertThat(device.turns().underWay()).isEqualTo(IN_FLIGHT);
    assertThat(device.turns().waiting()).isEqualTo(IN_FLIGHT);

    gate.countDown();
    for (CompletableFuture<List<CopyReport>> each : List.of(one, other)) {
      assertThat(each.join()).hasSize(1000)
          .allMatch(CopyReport::isComplete);
    }
    assertThat(device.turns().peak()).isEqualTo(IN_FLIGHT);
    assertThat(driver.copied(CopyMethod.BATCH)).isEqualTo(2001);
  }

  @Test
  void copying_ofManyStreamsToASlowDevice_neverHasMoreUnderWay() {
    driver.latency("aclrtMemcpyBatch", 50_000);
    List<CompletableFuture<List<CopyReport>>> all = IntStream.range(0, 16)
        .mapToObj(i -> copying(requests(50, new AtomicInteger())).collectList().toFuture()).toList();
    all.forEach(each -> assertThat(each.join()).hasSize(50));
    assertThat(device.turns().peak()).isEqualTo(IN_FLIGHT);
    assertThat(driver.copied(CopyMethod.BATCH)).isEqualTo(800);
  }

  @Test
  void copying_cancelled_keepsWhatIsUnderWay_andLeavesTheQueueOfTurns() {
    shutGate();
    List<CopyRequest> made = new ArrayList<>();
    Flux<CopyRequest> requests = requests(1000, new AtomicInteger()).doOnNext(made::add);
    Disposable first = copying(requests).subscribe();
    Disposable second = copying(requests).subscribe();
    assertThat(made).hasSize(2 * IN_FLIGHT);
    first.dispose();
    second.dispose();

    assertThat(device.turns().waiting()).isZero();
    assertThat(device.turns().underWay()).isEqualTo(IN_FLIGHT);
    gate.countDown();
    gated.join();
    device.copy(request()).block(LIMIT); // behind all others
    assertThat(driver.copied(CopyMethod.BATCH)).isEqualTo(2 + IN_FLIGHT);
    assertThat(device.turns().underWay()).isZero();
    assertThat(held).as("requests whose turn did not come stay their caller's").hasValue(IN_FLIGHT);
    made.forEach(CopyRequest::clear);
  }

  @Test
  void copying_deviceClosed_endsWithItsError() {
    shutGate();
    CompletableFuture<List<CopyReport>> all =
        copying(requests(100, new AtomicInteger())).collectList().toFuture();
    CompletableFuture<Void> closed = device.close().toFuture();
    gate.countDown();
    closed.join();
    assertThatThrownBy(all::join).hasCauseInstanceOf(DeviceClosedException.class);
    assertThat(device.turns().underWay()).isZero();
  }

  @Test
  void request_underWayOrCopied_isNotCopiedAgainBeforeItIsMadeReady() {
    shutGate();
    CopyRequest request = request();
    CompletableFuture<CopyReport> copied = device.copy(request).toFuture();
    StepVerifier.create(device.copy(request))
        .expectErrorMessage("request must be copied once, or be made ready again (was under way)").verify(LIMIT);
    assertThatThrownBy(request::again).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(request::clear)
        .hasMessage("request must not be changed before its copies have ended (was under way)");
    gate.countDown();
    gated.join();
    assertThat(copied.join()).matches(CopyReport::isComplete);
    StepVerifier.create(device.copy(request))
        .expectErrorMessage("request must be copied once, or be made ready again (was copied before)")
        .verify(LIMIT);
    assertThat(device.copy(request.again()).block(LIMIT)).matches(CopyReport::isComplete);
    assertThatThrownBy(() -> request.add(source.address(), there, BYTES))
        .hasMessage("request must be ready to be changed (was copied before)");
    assertThat(request.clear().elements()).isZero();
  }

  @Test
  void request_clearedBeforeItWasCopied_letsGoOfWhatItHolds() {
    request().clear();
    assertThat(held).hasValue(0);
  }

  @Test
  void close_withTenThousandQueued_endsEachOnceAndDestroysInOrder() {
    driver.batchUnsupported(0);
    device.copy(request()).block(LIMIT); // makes the stream
    shutGate();
    AtomicIntegerArray results = new AtomicIntegerArray(10_000);
    AtomicInteger made = new AtomicInteger();
    List<CompletableFuture<CopyReport>> all = new ArrayList<>();
    for (int i = 0; i < results.length(); i++) {
      int number = i;
      all.add(device.copy(request()).doOnSuccess(report -> made.incrementAndGet())
          .doOnTerminate(() -> results.incrementAndGet(number)).toFuture());
      if (i == 5000) {
        gate.countDown(); // some are made, most are refused
      }
    }
    device.close().block(LIMIT);
    assertThat(all).allMatch(CompletableFuture::isDone);
    assertThat(IntStream.range(0, results.length()).map(results::get)).containsOnly(1);
    assertThat(held).hasValue(0);
    assertThat(driver.copied(CopyMethod.ASYNC)).isEqualTo(2 + made.get());
    devices.close().block(LIMIT);
    List<String> last = driver.log().stream().map(Call::function)
        .filter(name -> List.of("aclrtFree", "aclrtDestroyStream", "aclrtDestroyContext", "aclFinalize").contains(name))
        .toList();
    assertThat(last).containsExactly("aclrtDestroyStream", "aclrtFree", "aclrtDestroyContext", "aclFinalize");
  }
}
