package io.penstock.device.sidecar.server;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockScope;
import io.penstock.block.Owned;
import io.penstock.device.memory.MappedMemory;
import io.penstock.device.memory.MappedOptions;
import io.penstock.device.memory.MemoryFigures;
import io.penstock.device.memory.MemoryPages;
import io.penstock.device.memory.PageKind;
import io.penstock.device.memory.StagingBuffer;
import io.penstock.device.memory.StagingPool;
import io.penstock.device.memory.StagingSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/// Staging memory comes back however a copy through it ends.
@Timeout(60)
final class StagingTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);

  private final MemoryFigures figures = new MemoryFigures();
  private final StagingPool pool = StagingPool.of("staging", StagingSpec.parse("1:1"), 2,
      new MappedMemory(MappedOptions.defaults().withPages(MemoryPages.PLAIN), figures).map(1 << 20));
  private final List<Staging> used = new ArrayList<>();

  @AfterEach
  void allWentBack() {
    pool.close().block(LIMIT);
    assertThat(figures.bytes(PageKind.PLAIN) + figures.bytes(PageKind.JDK)).isZero();
  }

  @Test
  void cancel_beforeTheGrant_leavesTheQueue_andLosesNothing() {
    BlockScope scope = new BlockScope();
    StagingBuffer only = requireNonNull(pool.acquire(scope).block(LIMIT));
    Disposable waiting = Staging.use(pool, this::never).subscribe();
    assertThat(pool.permits().waiting()).isEqualTo(1);
    waiting.dispose();
    assertThat(pool.permits().waiting()).isZero();
    only.close();
    assertThat(used).isEmpty();
    assertThat(pool.permits().inUse()).isZero();
  }

  @Test
  void cancel_whileADeviceIsAtIt_keepsTheBuffer_untilThatLetsGo() {
    Disposable copying = Staging.use(pool, this::never).subscribe();
    Owned share = used.getFirst().share();
    copying.dispose();
    assertThat(pool.permits().inUse()).isEqualTo(1);
    share.close();
    assertThat(pool.permits().inUse()).isZero();
  }

  @Test
  void end_orFailure_givesItToTheNext() {
    Disposable first = Staging.use(pool, this::never).subscribe();
    List<Throwable> failures = new ArrayList<>();
    Staging.use(pool, stage -> Mono.error(new IllegalStateException("copy"))).subscribe(nothing -> {}, failures::add);
    Staging.use(pool, stage -> Mono.empty()).subscribe();
    assertThat(pool.permits().waiting()).isEqualTo(2);
    first.dispose();
    assertThat(failures).singleElement().satisfies(failure -> assertThat(failure).hasMessage("copy"));
    assertThat(pool.permits().inUse()).isZero();
  }

  private Mono<Void> never(Staging stage) {
    used.add(stage);
    return Mono.never();
  }
}
