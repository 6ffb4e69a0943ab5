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
import io.penstock.device.ascend.DriverDouble.Profile;
import io.penstock.device.ascend.acl.AclLibrary;
import io.penstock.device.ascend.acl.AclRuntime;
import io.penstock.device.ascend.failure.AscendFailure.AscendRefusedException;
import io.penstock.testkit.Eventually;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// What becomes of elements and memory when something breaks that is none of the library's: an `Error` in the middle of
/// copies, a device that does not come to be.
@Timeout(120)
final class BrokenCopiesTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final int FAILURE = 500_001;

  private static DriverDouble driver;

  /// Throws once, where it is told to.
  private static final class Saboteur implements AscendListener {
    private final AtomicBoolean fallBack = new AtomicBoolean();
    private final AtomicBoolean call = new AtomicBoolean();
    private final AtomicBoolean failure = new AtomicBoolean();

    private static void maybe(AtomicBoolean armed) {
      if (armed.getAndSet(false)) {
        throw new StackOverflowError("as told");
      }
    }

    @Override
    public void called(int device, CopyKind kind, CopyMethod method, int elements, long bytes, long nanos) {
      maybe(call);
    }

    @Override
    public void failed(int device, int code, int elements) {
      maybe(failure);
    }

    @Override
    public void fellBack(int device, int code) {
      maybe(fallBack);
    }
  }

  private final Saboteur saboteur = new Saboteur();
  private final BlockScope scope = new BlockScope();
  private final AtomicInteger freed = new AtomicInteger();
  private AscendDevices devices;
  private AscendDevice device;
  private long there;
  private MemorySegment host;

  @BeforeAll
  static void compile() {
    driver = DriverDouble.of(Profile.CANN_90);
  }

  @BeforeEach
  void open() {
    driver.reset(1, 64 << 20);
    devices = AscendDevices.find(AscendOptions.defaults().withLibrary(driver.path()), saboteur).orElseThrow();
    device = requireNonNull(devices.open(0).block(LIMIT));
    there = requireNonNull(device.allocate(1 << 20, scope).block(LIMIT)).address();
    host = Arena.ofAuto().allocate(1 << 20, 64).fill((byte) 3);
  }

  @AfterEach
  void nothingIsLeft() {
    scope.close();
    device.close().block(LIMIT);
    devices.close().block(LIMIT);
    assertThat(driver.alive()).isEqualTo(new DriverDouble.Alive(0, 0, 0));
  }

  private Owned counted() {
    return new Owned() {
      @Override
      protected void free() {
        freed.incrementAndGet();
      }
    };
  }

  /// Up, then inside the device.
  private CopyRequest request() {
    CopyRequest request = new CopyRequest(8).hold(counted());
    for (int i = 0; i < 8; i++) {
      request.add(i < 4 ? host.address() + i * 4096L : there + i * 4096L, there + (64 + i) * 4096L, 4096);
    }
    return request;
  }

  private void requireUsable() {
    CopyRequest after = request();
    assertThat(requireNonNull(device.copy(after).block(LIMIT)).isComplete()).isTrue();
  }

  private static int[] results(CopyRequest request) {
    return IntStream.range(0, request.elements()).map(request::result).toArray();
  }

  @Test
  void errorBetweenTwoCalls_isTheResult_andWhatWasNotCopiedHasFailed() {
    saboteur.call.set(true); // after the first call
    CopyRequest request = request();
    assertThatThrownBy(() -> device.copy(request).block(LIMIT)).isInstanceOf(StackOverflowError.class);
    assertThat(results(request)).containsExactly(0, 0, 0, 0, FAILURE, FAILURE, FAILURE, FAILURE);
    assertThat(freed).hasValue(1);
    requireUsable();
    assertThat(freed).hasValue(2);
  }

  @Test
  void errorBetweenQueueingAndWaiting_givesUpWhatWasQueued() {
    saboteur.failure.set(true);
    driver.fail("aclrtMemcpyAsync", 2, 1, 107_000, -1);
    driver.fail("aclrtMemcpyAsync", 3, 1, 107_017, -1); // another code: the first is told
    CopyRequest request = request();
    assertThatThrownBy(() -> device.copy(request).block(LIMIT)).isInstanceOf(StackOverflowError.class);
    assertThat(results(request)).startsWith(0, 0, 0, 0, FAILURE, 107_000).doesNotContain(CopyRequest.OPEN);
    assertThat(driver.calls("aclrtStreamAbort")).isOne();
    assertThat(freed).hasValue(1);
    requireUsable();
  }

  @Test
  void errorInABatch_isItsResult_andItsMemoryStaysAsLongAsTheDeviceIsStuckWithIt() {
    driver.batchUnsupported(0);
    driver.fail("aclrtMemcpyAsync", 2, 1, 107_000, -1);
    driver.fail("aclrtMemcpyAsync", 3, 1, 107_017, -1);
    driver.fail("aclrtStreamAbort", 1, 1, 500_000, -1);
    driver.fail("aclrtSynchronizeStreamWithTimeout", 1, 1, 507_046, -1);
    saboteur.failure.set(true);
    CopyBatch batch = new CopyBatch(CopyDirection.TO_DEVICE).hold(counted());
    for (int i = 0; i < 4; i++) {
      batch.add(host.asSlice(i * 4096L, 4096), there + i * 4096L);
    }
    assertThatThrownBy(() -> device.copy(batch).block(LIMIT)).isInstanceOf(StackOverflowError.class);
    assertThat(batch.isClosed()).isFalse();
    assertThat(freed).hasValue(0);
    requireUsable(); // by now what was queued has been copied
    assertThat(batch.isClosed()).isTrue();
    assertThat(freed).hasValue(2);
  }

  @Test
  void contextThatCannotBePutBack_freesNothingThatTheDeviceMayStillTouch() {
    // the allocation puts back what was there after it was answered
    Eventually.holds("the context was put back", () -> driver.calls("aclrtSetCurrentContext") >= 2);
    driver.fail("aclrtSetCurrentContext", 4, 1, 107_002, -1);
    driver.batchUnsupported(0);
    driver.fail("aclrtStreamAbort", 1, 1, 500_000, -1);
    driver.fail("aclrtSynchronizeStreamWithTimeout", 1, 2, 507_046, -1); // and the look after it
    CopyBatch batch = new CopyBatch(CopyDirection.TO_DEVICE).add(host.asSlice(0, 4096), there).hold(counted());
    assertThatThrownBy(() -> device.copy(batch).block(LIMIT)).isInstanceOf(CopyFailedException.class);
    device.forget(host).block(LIMIT); // behind it
    assertThat(driver.calls("aclrtSetCurrentContext")).isGreaterThan(4);
    assertThat(freed).hasValue(0);
    requireUsable();
    assertThat(freed).hasValue(2);
  }

  @Test
  void batchThatMustNotBeCopied_isLetGo() {
    CopyBatch batch =
        new CopyBatch(CopyDirection.TO_DEVICE).add(host.asSlice(0, 4096), there).hold(counted()).before(() -> {
          throw new StackOverflowError("as told");
        });
    assertThatThrownBy(() -> device.copy(batch).block(LIMIT)).isInstanceOf(StackOverflowError.class);
    assertThat(freed).hasValue(1);
    requireUsable();
  }

  @Test
  void deviceThatDoesNotComeToBe_leavesNoContext() {
    AclRuntime runtime = new AclRuntime(requireNonNull(AclLibrary.load(driver.path())));
    Scheduler broken = new Scheduler() {
      @Override
      public Disposable schedule(Runnable task) {
        throw new AssertionError("nothing is scheduled");
      }

      @Override
      public Worker createWorker() {
        throw new OutOfMemoryError("unable to create native thread");
      }
    };
    long contexts = driver.alive().contexts();
    assertThatThrownBy(
        () -> new AscendDevice(0, runtime, AscendOptions.defaults(), broken, AscendListener.noop(), () -> {}))
        .isInstanceOf(OutOfMemoryError.class);
    driver.fail("aclrtGetMemInfo", 1 + driver.calls("aclrtGetMemInfo"), 1, 107_000, -1);
    assertThatThrownBy(() -> new AscendDevice(0, runtime, AscendOptions.defaults(), Schedulers.immediate(),
        AscendListener.noop(), () -> {}))
        .isInstanceOf(AscendRefusedException.class).satisfies(Answers.code(107_000));
    assertThat(driver.alive().contexts()).isEqualTo(contexts);
    assertThat(host.get(JAVA_BYTE, 0)).isEqualTo((byte) 3);
  }
}
