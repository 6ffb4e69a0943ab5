package io.penstock.storage;

import io.penstock.storage.disk.DiskHealth;
import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import io.penstock.storage.engine.SegmentEngine;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.util.Logger;
import reactor.util.Loggers;

/// Ends a journal: waits for accepted work, marks and forces what is left, and releases the directory. If the disk is
/// stalled, the close fails after `HealthOptions.closeWithin`. The rest follows when the disk answers, or never if the
/// process ends first.
final class JournalEnd {
  private static final Logger LOG = Loggers.getLogger(JournalEnd.class);

  private final JournalOptions options;
  private final SegmentEngine engine;
  private final DiskHealth health;
  private final JournalThreads threads;
  private final AtomicBoolean closing = new AtomicBoolean();
  private final Sinks.Empty<Void> ended = Sinks.empty();

  JournalEnd(JournalOptions options, SegmentEngine engine, DiskHealth health, JournalThreads threads) {
    this.options = options;
    this.engine = engine;
    this.health = health;
    this.threads = threads;
  }

  /// @param accepted refuses new work, and completes when accepted work has ended
  /// @param writes marks and forces the rest
  /// @return as in [JournalStore#close]
  Mono<Void> close(Mono<Void> accepted, JournalWrites writes) {
    return Mono.defer(() -> {
      if (closing.compareAndSet(false, true)) {
        threads.ticks().after(options.health().closeWithin().toMillis(), this::leaveIfStuck);
        accepted.doOnTerminate(() -> writes.end(this::last)).subscribe(nothing -> {},
            failure -> LOG.warn("store {}: what it had accepted did not end in order", options.name(), failure));
      }
      return ended.asMono();
    });
  }

  private void leaveIfStuck() {
    if (!health.isStalled()) {
      health.nextTick(this::leaveIfStuck); // the disk is slow, not stalled
    } else if (ended.tryEmitError(tooLate(options)).isSuccess()) {
      LOG.warn(
          "store {} is left as it is: its disk does not answer; what waits for it ends when the disk answers, or "
              + "with the process",
          options.name());
    }
  }

  /// The failure of a close on a stalled disk.
  static StorageFailedException tooLate(JournalOptions options) {
    return new StorageFailedException(
        "close store " + options.name() + " within " + options.health().closeWithin().toMillis() + " ms",
        new IOException("its disk does not answer"));
  }

  private void last(@Nullable Throwable unfinished) {
    Throwable failure = unfinished;
    health.close(); // not before: the disk may stall during the last read
    try {
      engine.close(); // in any case: the engine holds the lock on the directory
    } catch (Throwable e) { // the caller must hear of any failure
      failure = failure == null ? e : failure;
    }
    health.end();
    try {
      if (failure == null) {
        ended.tryEmitEmpty();
      } else if (ended.tryEmitError(failure).isFailure()) {
        LOG.warn("store {} was left, and did not end well when its disk answered: {}", options.name(),
            failure.toString());
      }
    } finally {
      threads.stopping().run();
    }
  }
}
