package io.penstock.block;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// One owner's hold on something that must be given back: closes once, however often and from wherever it is closed.
///
/// Whatever is owned can be adopted by a [BlockScope]: handles on memory, leases, reservations, permits.
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

  /// The scope that closes this handle if its owner does not, and the links of its list; guarded by the scope.
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

  /// Ends this handle without freeing what it holds; true for the one caller that ended it.
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

  /// Gives back what this handle holds; called at most once.
  protected abstract void free();
}
