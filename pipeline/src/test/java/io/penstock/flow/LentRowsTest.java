package io.penstock.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.stack.HostTier;
import io.penstock.tier.TierListener;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// An engine may use its rows for another session once it has cancelled.
@Timeout(60)
final class LentRowsTest {
  private static final CacheSpace SPACE = CacheSpace.of("m", BlockLayout.attention(8, 16, 2, 8, ElementType.FP32));
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final int ROUNDS = 1_000;

  private final List<BlockKey> keys = SPACE.keys(new int[4 * 16]);
  private final MemorySegment row = Arena.ofAuto().allocate(SPACE.layout().rowBytes(0));
  private final AtomicInteger late = new AtomicInteger();

  /// Cancels work while another thread uses rows.
  private void cancelledRounds(Function<EngineRows, Mono<?>> work) {
    SplittableRandom random = new SplittableRandom(11);
    Scheduler thread = Schedulers.newSingle("engine", true);
    try {
      for (int round = 0; round < ROUNDS; round++) {
        AtomicBoolean cancelled = new AtomicBoolean();
        AtomicBoolean begun = new AtomicBoolean();
        Disposable running = work.apply((layer, plane, token) -> {
          begun.set(true);
          late.addAndGet(cancelled.get() ? 1 : 0);
          return row;
        }).subscribeOn(thread).subscribe();
        while (!begun.get() && !running.isDisposed()) {
          Thread.onSpinWait();
        }
        for (int spins = random.nextInt(200); spins > 0; spins--) {
          Thread.onSpinWait();
        }
        running.dispose();
        cancelled.set(true);
      }
    } finally {
      thread.dispose();
    }
  }

  @Test
  void noRowIsWritten_afterALoadWasCancelled() {
    HostTier tier = new HostTier(SPACE, 8, TierListener.noop());
    SlabArena arena = new SlabArena("engine", SPACE.layout(), 8, 8);
    OffloadPrefix.rows(tier, keys, SliceShape.defaults(), ProducingSource.shared(arena, SliceShape.Order.LAYER_FIRST),
        (layer, plane, token) -> row).blockLast(PATIENCE);

    cancelledRounds(rows -> LoadPrefix.rows(tier, keys, SliceShape.defaults(), rows));

    assertThat(late).hasValue(0);
    assertThat(LoadPrefix.rows(tier, keys, SliceShape.defaults(), (layer, plane, token) -> row).block(PATIENCE))
        .isEqualTo(keys.size());
    tier.close().block(PATIENCE);
    arena.close();
  }

  @Test
  void noRowIsRead_afterAnOffloadWasCancelled() {
    HostTier tier = new HostTier(SPACE, 8, TierListener.noop());
    SlabArena arena = new SlabArena("engine", SPACE.layout(), 8, 8);
    ProducingSource source = ProducingSource.shared(arena, SliceShape.Order.LAYER_FIRST);

    cancelledRounds(rows -> tier.remove(keys)
        .then(OffloadPrefix.rows(tier, keys, SliceShape.defaults(), source, rows).then()));

    assertThat(late).hasValue(0);
    tier.close().block(PATIENCE);
    arena.close();
  }
}
