package io.penstock.wire.transport;

import io.rsocket.DuplexConnection;
import io.rsocket.exceptions.ConnectionErrorException;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/// Ends a connection whose peer sends no frame for the lifetime that the two agreed on.
///
/// It looks [#LOOKS] times a lifetime, and counts the looks that found nothing new: a frame costs a field, and a
/// standstill of this process costs the peer one look. The connection ends at most a look late.
final class PeerWatch {
  private static final int LOOKS = 8;

  private final DuplexConnection connection;
  private final Scheduler timers;
  private final Sinks.Empty<Void> silent = Sinks.empty();
  private final Disposable.Swap looking = Disposables.swap();
  private volatile boolean heard;
  /// Touched by looks alone.
  private int silentLooks;

  PeerWatch(DuplexConnection connection, Scheduler timers) {
    this.connection = connection;
    this.timers = timers;
  }

  /// A frame of the peer has arrived.
  void heard() {
    if (!heard) {
      heard = true;
    }
  }

  /// Watches from now on, until the connection is gone.
  void begin(Duration lifetime) {
    long nanos = lifetime.toNanos() / LOOKS;
    try {
      looking.update(
          timers.schedulePeriodically(() -> look(lifetime), nanos, nanos, TimeUnit.NANOSECONDS));
    } catch (RejectedExecutionException e) { // the event loop has ended, and its connections with it
      return;
    }
    connection.onClose().onErrorComplete().doFinally(end -> looking.dispose()).subscribe();
  }

  private void look(Duration lifetime) {
    if (heard) {
      heard = false;
      silentLooks = 0;
    } else if (++silentLooks >= LOOKS) {
      looking.dispose();
      ConnectionErrorException why = new ConnectionErrorException(
          "keep-alive frames must come within " + lifetime.toMillis() + " ms (none did)");
      connection.sendErrorAndClose(why);
      silent.tryEmitError(why);
    }
  }

  /// Signals the reason when the peer was silent for too long; never completes.
  Mono<Void> silent() {
    return silent.asMono();
  }
}
