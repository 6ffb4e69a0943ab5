package io.penstock.tier.spi;

import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/// Tells all callers that a full queue refused when it has room again, once, at the next [#left]. For the makers of
/// [StoreBusyException]s. Safe from any thread.
public final class RoomSignal {
  private volatile Sinks.@Nullable Empty<Void> refused;

  /// A caller is refused.
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

  /// Something left the queue. The waiting callers ask again at once, on this thread: not to be called under a lock.
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
