package io.penstock.block;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Owns the handles of one subscription. The close of the scope closes the handles that the consumer forgot, in order
/// of adoption.
///
/// Reactor's discard hooks do not keep owned blocks safe: some operators drop elements on cancel without a call of the
/// hook. A handle adopted when it is opened cannot be lost. To keep a block past its scope, [Block#share()] it. Wrap
/// the *whole* pipeline, consumption included, for example with `Flux.using(BlockScope::new, body, BlockScope::close)`.
///
/// Safe from any thread. A handle adopted after [#close()] is closed at once: its subscriber has left.
public final class BlockScope implements AutoCloseable {
  private final Object lock = new Object();
  @GuardedBy("lock") private @Nullable Owned first;
  @GuardedBy("lock") private @Nullable Owned last;
  @GuardedBy("lock") private int open;
  @GuardedBy("lock") private boolean closed;

  /// Takes ownership of `owned` until it closes. Adopt a handle when it is opened, before an operator can drop the
  /// reference.
  ///
  /// @return `owned`
  public <T extends Owned> T adopt(T owned) {
    link(owned);
    return owned;
  }

  /// Takes ownership of each of `owned`.
  public <T extends Owned> List<T> adoptAll(List<T> owned) {
    owned.forEach(this::link);
    return owned;
  }

  /// Adopts `owned` as [#adopt] does, unless a scope owns it already.
  public <T extends Owned> T adoptUnowned(T owned) {
    return owned.scope == null ? adopt(owned) : owned;
  }

  /// True if the subscription is over: the scope closes at once each handle that it adopts.
  public boolean isClosed() {
    synchronized (lock) {
      return closed;
    }
  }

  /// Handles adopted and not closed yet.
  public int open() {
    synchronized (lock) {
      return open;
    }
  }

  /// Closes every handle, in order of adoption. If a close throws, the other handles are closed before the error is
  /// thrown.
  @Override
  public void close() {
    synchronized (lock) {
      closed = true;
    }
    Throwable failure = null;
    for (Owned handle = oldest(); handle != null; handle = oldest()) {
      try {
        handle.close();
      } catch (RuntimeException | Error e) { // the other handles are closed all the same
        failure = failure == null ? e : suppressing(failure, e);
      }
      forget(handle); // for a handle that another thread is just closing
    }
    switch (failure) {
      case null -> {
      }
      case Error error -> throw error;
      case RuntimeException exception -> throw exception;
      default -> throw new IllegalStateException(failure); // no handle throws a checked exception
    }
  }

  @SuppressWarnings("ReferenceEquality") // an error must not suppress itself
  private static Throwable suppressing(Throwable first, Throwable another) {
    if (first != another) {
      first.addSuppressed(another);
    }
    return first;
  }

  private @Nullable Owned oldest() {
    synchronized (lock) {
      return first;
    }
  }

  private void link(Owned handle) {
    synchronized (lock) {
      if (handle.scope != null) {
        throw new IllegalStateException("handle must not belong to a scope already (was " + handle + ")");
      }
      if (!closed) {
        handle.scope = this;
        handle.previous = last;
        if (last == null) {
          first = handle;
        } else {
          last.next = handle;
        }
        last = handle;
        open++;
      }
    }
    if (handle.scope == null) {
      handle.close();
    } else if (handle.isClosed()) { // closed by another thread while it was adopted
      forget(handle);
    }
  }

  void forget(Owned handle) {
    synchronized (lock) {
      if (handle.scope != this) {
        return;
      }
      Owned before = handle.previous;
      Owned after = handle.next;
      if (before == null) {
        first = after;
      } else {
        before.next = after;
      }
      if (after == null) {
        last = before;
      } else {
        after.previous = before;
      }
      handle.scope = null;
      handle.previous = null;
      handle.next = null;
      open--;
    }
  }
}
