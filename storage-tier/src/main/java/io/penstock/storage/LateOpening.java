package io.penstock.storage;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.KvException;
import io.penstock.tier.StoreHealth;
import io.penstock.tier.spi.StoreUnavailableException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.util.Logger;
import reactor.util.Loggers;

/// Opens the journal of a [LateJournal]: tries again and again, until it is open or closed. Safe from
/// any thread; opening waits for the disk on a thread of its clock.
final class LateOpening {
  private static final Logger LOG = Loggers.getLogger(LateOpening.class);

  private final JournalOptions options;
  private final Supplier<JournalStore> opening;
  private final JournalClock clock;
  private final Runnable stopping;
  private final Consumer<JournalStore> taking;
  private final Sinks.Empty<Void> ended = Sinks.empty();
  private volatile StoreHealth health;
  @GuardedBy("this") private @Nullable JournalStore opened;
  @GuardedBy("this") private boolean isOpening;
  @GuardedBy("this") private boolean closed;
  /// A close waits for what was being opened at the first one.
  @GuardedBy("this") private boolean awaited;

  /// @param first why it is not open yet
  /// @param clock runs another task while one opens
  /// @param stopping ends the clock
  /// @param taking takes what was opened, while it cannot be closed
  LateOpening(JournalOptions options, StoreUnavailableException first, Supplier<JournalStore> opening,
      JournalClock clock, Runnable stopping,
      Consumer<JournalStore> taking) {
    this.options = options;
    this.health = off(first);
    this.opening = opening;
    this.clock = clock;
    this.stopping = stopping;
    this.taking = taking;
  }

  private static StoreHealth off(Throwable why) {
    return new StoreHealth(StoreHealth.State.OFF, why instanceof KvException ? why.getMessage() : why.toString());
  }

  /// The first try comes in a while.
  ///
  /// @param tell told when it is open, and of each change from then on
  void begin(Runnable tell) {
    tryLater(options.health().firstProbe().toMillis(), tell);
  }

  /// As long as nothing is open: why.
  StoreHealth health() {
    return health;
  }

  synchronized boolean isClosed() {
    return closed;
  }

  private void tryLater(long millis, Runnable tell) {
    clock.after(millis, () -> open(millis, tell));
  }

  private void open(long waited, Runnable tell) {
    synchronized (this) {
      if (closed) {
        return;
      }
      isOpening = true;
    }
    JournalStore store = opened();
    if (store == null) {
      again(null, waited, tell);
      return;
    }
    boolean isWanted;
    try {
      isWanted = took(store);
    } catch (Throwable e) { // as if it had not been opened
      failed(e);
      letGo(store).subscribe(nothing -> {}, null, () -> again(store, waited, tell));
      return;
    }
    if (isWanted) {
      store.watch(tell);
      tell.run();
    } else {
      end(store);
    }
  }

  /// Nothing is open, and nothing is being opened.
  ///
  /// @param untaken what was opened, and has ended again
  private void again(@Nullable JournalStore untaken, long waited, Runnable tell) {
    if (took(null)) {
      tryLater(Math.min(2 * waited, options.health().lastProbe().toMillis()), tell);
    } else {
      end(untaken);
    }
  }

  /// Null if that failed, however it did: it is tried again, and the folder may be another one by then.
  private @Nullable JournalStore opened() {
    try {
      return opening.get();
    } catch (Throwable e) {
      failed(e);
      return null;
    }
  }

  private void failed(Throwable e) {
    StoreHealth before = health;
    health = off(e);
    if (!(e instanceof KvException) && !health.equals(before)) {
      LOG.warn("store {} could not be opened, and is tried again", options.name(), e);
    }
  }

  /// Closes what was opened and not taken. A failure is logged: the next opening may find its lock.
  ///
  /// @return completes when that has ended, however it did
  static Mono<Void> letGo(JournalStore store) {
    return store.close().onErrorResume(failure -> {
      LOG.warn("store {} was opened after the close, and did not close: {}", store.name(), failure.toString());
      return Mono.empty();
    });
  }

  /// One that cannot be taken is still being opened: it has the lock on the directory.
  ///
  /// @return false after the close
  private synchronized boolean took(@Nullable JournalStore store) {
    if (store != null && !closed) {
      taking.accept(store);
      opened = store;
    }
    isOpening = false;
    return !closed;
  }

  /// Of what was opened too late; the close waits for it, unless that took too long.
  private void end(@Nullable JournalStore late) {
    Mono<Void> close = late == null ? Mono.empty() : late.close();
    close.doFinally(end -> stopping.run()).subscribe(nothing -> {}, failure -> {
      if (ended.tryEmitError(failure).isFailure()) {
        LOG.warn("store {} was opened too late, and did not close: {}", options.name(), failure.getMessage());
      }
    }, () -> {
      if (ended.tryEmitEmpty().isFailure() && late == null) {
        LOG.warn("store {} was left while it was opened, and could not be: {}", options.name(), health.problem());
      }
    });
  }

  /// As in [LateJournal#close()].
  Mono<Void> close() {
    return Mono.defer(() -> {
      JournalStore store;
      boolean waits;
      boolean isFirst;
      synchronized (this) {
        isFirst = !closed;
        closed = true;
        store = opened;
        awaited |= isOpening;
        waits = awaited;
      }
      if (waits) {
        if (isFirst) {
          clock.after(options.health().closeWithin().toMillis(), this::leave);
        }
        return ended.asMono();
      }
      stopping.run();
      return store == null ? Mono.empty() : store.close();
    });
  }

  private void leave() {
    if (ended.tryEmitError(JournalEnd.tooLate(options)).isSuccess()) {
      LOG.warn("store {} is left while it is opened: its disk does not answer", options.name());
    }
  }
}
