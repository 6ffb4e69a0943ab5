package io.penstock.block;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// One owner's hold on a resource that must be given back. Frees the resource once, even if several threads close it.
///
/// A [BlockScope] can adopt it: handles on memory, leases, reservations, permits.
public abstract class Owned implements AutoCloseable {
  private static final VarHandle CLOSED;

  static {
    try {
      CLOSED = MethodHandles.lookup().findVarHandle(Owned.class, "closed", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  @SuppressWarnings("unused") // written through CLOSED
  private volatile boolean closed;

  /// The scope that closes this handle if its owner does not, and the links of that scope's list. The scope guards all
  /// three.
  volatile @Nullable BlockScope scope;
  @Nullable Owned previous;
  @Nullable Owned next;

  /// Gives the hold back. Idempotent; safe from any thread; never waits.
  @Override
  public final void close() {
    if (markClosed()) {
      free();
    }
  }

  /// True from the first [#close()] on.
  public final boolean isClosed() {
    return closed;
  }

  /// Ends this handle without [#free]; true for the one caller that ended it.
  protected final boolean markClosed() {
    if (!CLOSED.compareAndSet(this, false, true)) {
      return false;
    }
    BlockScope owner = scope;
    if (owner != null) {
      owner.forget(this);
    }
    return true;
  }

  /// Frees the resource; called at most once.
  protected abstract void free();
}
