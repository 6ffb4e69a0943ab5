package io.penstock.tier;

import io.penstock.block.LayerSlice;
import io.penstock.operator.Failures;
import io.penstock.tier.slice.SlicePlan;
import java.util.List;
import org.reactivestreams.Subscriber;

/// The slices of one window of blocks in host memory, each made when it is requested. Closes the window after the last
/// one. The emitting thread writes the fields; a cancel writes `done`, on any thread.
final class ReadySlices extends DemandLoop {
  private final Subscriber<? super LayerSlice> subscriber;
  private final ReadyWindow window;
  private final List<SlicePlan.Cut> cuts;
  private final int number;
  private int next;
  private volatile boolean done;

  /// @param number of the window in its stream
  ReadySlices(Subscriber<? super LayerSlice> subscriber, ReadyWindow window, List<SlicePlan.Cut> cuts, int number) {
    this.subscriber = subscriber;
    this.window = window;
    this.cuts = cuts;
    this.number = number;
  }

  @Override
  public void emit() {
    while (!done) {
      if (next == cuts.size()) {
        cancel();
        subscriber.onComplete();
      } else if (isWanted()) {
        emitNext();
      } else {
        return;
      }
    }
  }

  private void emitNext() {
    LayerSlice slice;
    try {
      slice = SlicePlan.slice(cuts, next++, number, window);
    } catch (RuntimeException | Error e) {
      fail(e);
      return;
    }
    spend();
    subscriber.onNext(slice);
  }

  @Override
  public void fail(Throwable error) {
    if (!done) { // else the window was closed meanwhile
      cancel();
      subscriber.onError(Failures.passable(error));
    }
  }

  @Override
  public void cancel() {
    done = true;
    window.close();
  }
}
