package io.penstock.carrier;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.check.Checks;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/// Shares of the blocks that the receiver of one stream reads where they lie. Each is kept until the receiver has
/// landed the slice, and no longer than the stream: a receiver that is gone keeps nothing.
///
/// Safe from any thread.
public final class UnlandedSlices {
  private record Kept(int window, List<LayerSpan> shares) {}

  private final Runnable landed;
  @GuardedBy("this") private final ArrayDeque<Kept> kept = new ArrayDeque<>();
  @GuardedBy("this") private boolean closed;

  /// @param landed runs after the receiver reported landed slices
  public UnlandedSlices(Runnable landed) {
    this.landed = landed;
  }

  /// Keeps shares of all spans of `slice`, which stays the caller's. A closed object keeps nothing.
  public void keep(LayerSlice slice) {
    List<LayerSpan> shares = new ArrayList<>(slice.spans().size());
    try {
      for (LayerSpan span : slice.spans()) {
        shares.add(span.share());
      }
    } catch (RuntimeException | Error e) {
      shares.forEach(LayerSpan::close);
      throw e;
    }
    if (!add(new Kept(slice.place().window(), shares))) {
      shares.forEach(LayerSpan::close);
    }
  }

  private synchronized boolean add(Kept slice) {
    if (!closed) {
      kept.add(slice);
    }
    return !closed;
  }

  /// The receiver has landed all slices of the windows up to `window`.
  public void landed(int window) {
    Checks.notNegative("window", window);
    release(window);
    landed.run();
  }

  /// True if the receiver has landed every slice that was kept.
  public synchronized boolean isEmpty() {
    return kept.isEmpty();
  }

  /// The stream has ended: the receiver lands nothing more of it. Idempotent.
  public void close() {
    synchronized (this) {
      closed = true;
    }
    release(Integer.MAX_VALUE);
  }

  private void release(int window) {
    List<Kept> released = new ArrayList<>();
    synchronized (this) {
      while (!kept.isEmpty() && kept.peek().window() <= window) {
        released.add(kept.remove());
      }
    }
    released.forEach(slice -> slice.shares().forEach(LayerSpan::close));
  }
}
