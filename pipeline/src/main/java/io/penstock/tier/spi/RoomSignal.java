package io.penstock.tier.spi;

import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/// Reports to callers that a full queue refused that it has room again: once, at the next [#left]. For stores that
/// throw [StoreBusyException]. Safe from any thread.
public final class RoomSignal {
  private volatile Sinks.@Nullable Empty<Void> refused;

  /// Registers a refused caller.
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

  /// Wakes the refused callers, because an element left the queue. They ask again on this thread, so call this under no
  /// lock.
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
