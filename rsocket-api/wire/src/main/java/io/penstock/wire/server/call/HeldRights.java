package io.penstock.wire.server.call;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import reactor.core.Disposable;
import reactor.core.Disposables;

/// What runs, or is held, under rights that may be taken away: it ends when its caller loses one of them. Safe from any
/// thread.
public final class HeldRights {
  private final boolean kept;
  private final Set<Held> held = ConcurrentHashMap.newKeySet();

  private HeldRights(boolean kept) {
    this.kept = kept;
  }

  /// For callers whose rights may change.
  public static HeldRights changing() {
    return new HeldRights(true);
  }

  /// For callers who may do everything for ever: nothing is kept.
  public static HeldRights fixed() {
    return new HeldRights(false);
  }

  private static final class Held {
    private final RequestRights rights;
    private final Consumer<RuntimeException> end;
    private final AtomicBoolean over = new AtomicBoolean();

    private Held(RequestRights rights, Consumer<RuntimeException> end) {
      this.rights = rights;
      this.end = end;
    }

    private boolean isOver() {
      RuntimeException lack = rights.lack();
      if (lack != null && !over.getAndSet(true)) {
        end.accept(lack);
      }
      return lack != null;
    }
  }

  /// Calls `end` with the reason, once, when a right of `rights` is lost; at once if one is lost already.
  ///
  /// @return ends the watch
  public Disposable hold(RequestRights rights, Consumer<RuntimeException> end) {
    if (!kept) {
      return Disposables.disposed();
    }
    Held one = new Held(rights, end);
    held.add(one);
    if (one.isOver()) { // it was lost after it was looked up
      held.remove(one);
    }
    return () -> held.remove(one);
  }

  /// Ends what has lost its right. To be called after each change of users or rules.
  public void review() {
    held.removeIf(Held::isOver);
  }

  /// Number of things that are watched.
  int size() {
    return held.size();
  }
}
