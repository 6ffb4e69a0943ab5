package io.penstock.tier.spi;

import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/// Tells those whom a full line refused when it has room again: all of them, once, at the next [#left]. For the makers
/// of [StoreBusyException]s. Safe from any thread.
public final class RoomSignal {
  private volatile Sinks.@Nullable Empty<Void> refused;

  /// Somebody is refused.
  ///
  /// @return completes at the next [#left]
  public synchronized Mono<Void> refused() {
    Sinks.Empty<Void> sink = refused;
    if (sink == null) {
      sink = Sinks.empty();
      refused = sink;
    }
    return sink.asMono();
  }

  /// Something left the line. Those who wait come at once, on this thread: not under a lock.
  public void left() {
    if (refused != null) {
      tell();
    }
  }

  private void tell() {
    Sinks.Empty<Void> sink;
    synchronized (this) {
      sink = refused;
      refused = null;
    }
    if (sink != null) {
      sink.tryEmitEmpty();
    }
  }
}
