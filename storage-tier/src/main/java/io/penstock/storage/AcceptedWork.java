package io.penstock.storage;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.KvException;
import io.penstock.tier.TierClosedException;
import io.penstock.tier.spi.RoomSignal;
import java.util.function.Consumer;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/// Counts work in progress, up to a bound. Safe from any thread.
final class AcceptedWork {
  private final String store;
  private final String work;
  private final int most;
  private final Sinks.Empty<Void> drained = Sinks.empty();
  private final RoomSignal room = new RoomSignal();
  @GuardedBy("this") private int open;
  @GuardedBy("this") private boolean closed;

  /// @param work named in errors, in the plural
  AcceptedWork(String store, String work, int most) {
    this.store = store;
    this.work = work;
    this.most = most;
  }

  /// @throws TierClosedException after [#close]
  /// @throws JournalBusyException if `most` are in progress
  synchronized void enter() {
    if (closed) {
      throw new TierClosedException(store);
    }
    if (open == most) {
      throw new JournalBusyException(work + " of tier " + store, most, room.refused());
    }
    open++;
  }

  /// Enters, even above the bound.
  ///
  /// @return false after [#close]
  synchronized boolean tryEnter() {
    open += closed ? 0 : 1;
    return !closed;
  }

  synchronized boolean isClosed() {
    return closed;
  }

  /// Enters, or gives the reason to `refused`.
  boolean enteredBy(Consumer<? super KvException> refused) {
    try {
      enter();
      return true;
    } catch (KvException e) {
      refused.accept(e);
      return false;
    }
  }

  void leave() {
    boolean last;
    synchronized (this) {
      open--;
      last = closed && open == 0;
    }
    room.left();
    if (last) {
      drained.tryEmitEmpty();
    }
  }

  synchronized int open() {
    return open;
  }

  /// Refuses new work.
  Mono<Void> close() {
    boolean none;
    synchronized (this) {
      closed = true;
      none = open == 0;
    }
    if (none) {
      drained.tryEmitEmpty();
    }
    return drained.asMono();
  }
}
