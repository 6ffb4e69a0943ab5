package io.penstock.device.sidecar.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Owned;
import io.penstock.device.memory.MappedMemory;
import io.penstock.device.memory.MappedOptions;
import io.penstock.device.memory.MemoryListener;
import io.penstock.device.memory.MemoryPages;
import io.penstock.device.memory.StagingPool;
import io.penstock.device.memory.StagingSpec;
import io.penstock.device.sidecar.server.Copier.Element;
import io.penstock.device.sidecar.server.RegionWindow.InFile;
import io.penstock.device.sidecar.server.RegionWindow.Mapped;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// Windows and staging memory are released when a copy on the host fails with an error that Reactor does not signal.
@Timeout(60)
final class CopierTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final StagingSpec STAGING = new StagingSpec(1, 1 << 20);

  /// Fails each read and write.
  private static final InFile BROKEN = new InFile() {
    @Override
    public void read(long offset, MemorySegment into) {
      throw new StackOverflowError("as told");
    }

    @Override
    public void write(long offset, MemorySegment from) {
      throw new StackOverflowError("as told");
    }

    @Override
    public void close() {}
  };

  private final Scheduler workers = Schedulers.newBoundedElastic(1, 100, "workers", 60, true);
  private final StagingPool staging = StagingPool.of("staging", STAGING, 10,
      new MappedMemory(MappedOptions.defaults().withPages(MemoryPages.PLAIN), MemoryListener.noop())
          .map(STAGING.bytes()));
  private final CountDownLatch letGo = new CountDownLatch(1);

  /// Staging memory is back, or this fails.
  @AfterEach
  void close() {
    staging.close().block(LIMIT);
    workers.dispose();
  }

  private void copy(RegionWindow from, RegionWindow to) throws InterruptedException {
    RefCount holds = new RefCount(letGo::countDown);
    try (Owned _ = holds.share()) {
      new Copier(workers, new PieceQueue(workers, 1), staging).copy(List.of(new Element(from, 0, to, 0, 8192)), holds)
          .block(LIMIT);
    } finally {
      assertThat(letGo.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).as("windows were let go").isTrue();
    }
  }

  private static Mapped mapped() {
    return new Mapped(Arena.ofAuto().allocate(8192), () -> {});
  }

  @Test
  void error_inACopyByHand_isItsResult() {
    assertThatThrownBy(() -> copy(BROKEN, mapped())).isInstanceOf(StackOverflowError.class);
  }

  @Test
  void error_inACopyThroughStaging_isItsResult() {
    assertThatThrownBy(() -> copy(BROKEN, BROKEN)).isInstanceOf(StackOverflowError.class);
  }

  @Test
  void copy_withoutAThread_isRefused() {
    workers.dispose();
    assertThatThrownBy(() -> copy(mapped(), mapped())).isInstanceOf(RejectedExecutionException.class);
    assertThatThrownBy(() -> copy(BROKEN, BROKEN)).isInstanceOf(RejectedExecutionException.class);
  }
}
