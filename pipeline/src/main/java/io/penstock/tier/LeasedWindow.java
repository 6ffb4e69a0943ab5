package io.penstock.tier;

import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import io.penstock.block.Owned;
import io.penstock.block.SliceShape;
import io.penstock.tier.TierHolds.LeaseExpiredException;
import io.penstock.tier.slice.SlicePlan;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Some blocks of a lease that are sent slice by slice, while their bytes may still be read from a slower level.
///
/// Owns its blocks. Closing the window closes them; the window closes itself when its slices end.
public abstract class LeasedWindow extends Owned {
  private volatile Runnable over = () -> {};
  private volatile @Nullable Runnable check;

  /// Runs `then` before each slice and after the last one; the slices end with the error that it throws.
  public final void checkedBy(Runnable then) {
    check = then;
  }

  /// Runs `then` when this window no longer holds its blocks.
  public final void whenOver(Runnable then) {
    over = then;
  }

  /// Called once, when this window no longer holds its blocks.
  public final void over() {
    over.run();
  }

  /// A window of blocks that are all in memory. Takes the blocks over, even if this throws.
  ///
  /// @throws IllegalArgumentException if the blocks differ in layout
  public static LeasedWindow of(List<LeasedBlock> blocks, SliceShape shape) {
    BlockLayout layout = blocks.getFirst().block().layout();
    for (LeasedBlock leased : blocks) {
      if (!leased.block().layout().equals(layout)) {
        blocks.forEach(one -> one.block().close());
        throw new IllegalArgumentException(
            "layout of a window must be one (was " + layout + " and " + leased.block().layout() + ")");
      }
    }
    return new ReadyWindow(blocks, shape);
  }

  /// The slices of one window after the other; windows are numbered from 0. A window is requested when one of its
  /// slices is wanted, and a slice is made when it is requested.
  ///
  /// @param scope owns the slices emitted
  public static Flux<LayerSlice> cut(Flux<? extends LeasedWindow> windows, BlockScope scope) {
    return Flux.defer(() -> {
      AtomicInteger number = new AtomicInteger();
      return cut(windows, window -> slices(window, number.getAndIncrement()), scope);
    });
  }

  /// Cuts windows of any kind.
  public static <W> Flux<LayerSlice> cut(Flux<? extends W> windows, Function<? super W, Flux<LayerSlice>> slices,
      BlockScope scope) {
    return WindowSlices.of(windows, slices, scope);
  }

  private static Flux<LayerSlice> slices(LeasedWindow window, int number) {
    try {
      return window.slices(number);
    } catch (RuntimeException | Error e) { // such as a row that exceeds a slice
      window.close();
      throw e;
    }
  }

  /// Number of blocks.
  public abstract int size();

  /// The slices in the order of [SlicePlan], each as soon as its bytes are in memory. The first layers come before the
  /// last layers are read.
  ///
  /// | | |
  /// |---|---|
  /// | backpressure | slices, each made when it is requested |
  /// | cancel | closes the window; emitted slices stay with their owner |
  /// | threads | the requesting thread, or the thread on which the bytes arrived |
  /// | signals | [io.penstock.block.BlockCorruptException] if the bytes differ from their checksums; |
  /// | | [LeaseExpiredException] if the read lease has ended meanwhile |
  ///
  /// @param number of the window in its stream, from 0
  /// @return a stream for one subscriber, who owns the slices
  public final Flux<LayerSlice> slices(int number) {
    Runnable live = check;
    return live == null
        ? transferred(number)
        : transferred(number).map(slice -> checked(slice, live)).doOnComplete(live);
  }

  private static LayerSlice checked(LayerSlice slice, Runnable live) {
    try {
      live.run();
      return slice;
    } catch (RuntimeException | Error e) {
      slice.close();
      throw e;
    }
  }

  /// The slices without a check of the lease.
  protected abstract Flux<LayerSlice> transferred(int number);

  /// Hands the blocks over to `scope` when all their bytes are in memory, and ends the window.
  public abstract Mono<List<LeasedBlock>> blocks(BlockScope scope);

  public static CancellationException closed() {
    return new CancellationException("window must be open (was closed)");
  }
}
