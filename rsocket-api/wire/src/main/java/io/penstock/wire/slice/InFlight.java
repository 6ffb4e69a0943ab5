package io.penstock.wire.slice;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.BlockScope;
import io.penstock.carrier.UnlandedSlices;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.WireFormatException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Slices of one stream that the socket still holds. "Drained" is: the stream is over and none is left, so source
/// memory may be reused.
public final class InFlight {
  /// Maximum number of waiters for the drain of one stream.
  static final int WAITERS = 16;

  @GuardedBy("this") private final List<Runnable> drained = new ArrayList<>(0);
  @GuardedBy("this") private int slices;
  @GuardedBy("this") private boolean over;
  @GuardedBy("this") private @Nullable BlockScope scope;
  @GuardedBy("this") private @Nullable UnlandedSlices unlanded;

  /// Counts one more slice; the result runs once when the socket has released it, and runs `released`.
  public Runnable enter(Runnable released) {
    synchronized (this) {
      slices++;
    }
    return () -> {
      released.run();
      leave();
    };
  }

  /// Keeps slices of the stream until its receiver has landed them.
  synchronized void keep(UnlandedSlices slices) {
    unlanded = slices;
  }

  /// The receiver has landed all slices of the windows up to `window`.
  public void landed(int window) {
    UnlandedSlices slices = unlanded();
    if (slices != null) {
      slices.landed(window);
    }
  }

  private synchronized @Nullable UnlandedSlices unlanded() {
    return unlanded;
  }

  /// Scope of the stream; made here, so that it ends with the connection even if the stream is lost.
  public BlockScope openScope() {
    BlockScope opened = new BlockScope();
    synchronized (this) {
      scope = opened;
    }
    return opened;
  }

  /// The stream is over, if it is not already: an `Error` may have cut it short before anything could end it.
  public void abandon() {
    BlockScope held;
    synchronized (this) {
      held = over ? null : scope;
    }
    if (held != null) {
      held.close();
    }
    over();
  }

  /// Marks that the stream sends no more.
  public void over() {
    UnlandedSlices kept;
    synchronized (this) {
      over = true;
      kept = unlanded;
    }
    if (kept != null) {
      kept.close();
    }
    tell();
  }

  /// Runs `then` when drained, at once if it is.
  ///
  /// @throws WireFormatException if too many wait for this stream already
  public void onDrained(Runnable then) {
    synchronized (this) {
      if (drained.size() >= WAITERS) {
        throw new WireFormatException(ErrorCode.LIMIT_EXCEEDED, "drain requests of a stream", "<= " + WAITERS,
            drained.size() + 1);
      }
      drained.add(then);
    }
    tell();
  }

  /// Withdraws [#onDrained] for a waiter that left.
  public synchronized void forget(Runnable then) {
    drained.remove(then);
  }

  private void leave() {
    synchronized (this) {
      slices--;
    }
    tell();
  }

  private void tell() {
    List<Runnable> told;
    synchronized (this) {
      if (!over || slices > 0) {
        return;
      }
      told = List.copyOf(drained);
      drained.clear();
    }
    told.forEach(Runnable::run);
  }
}
