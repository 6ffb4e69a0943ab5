package io.penstock.node.door;

import io.penstock.wire.transport.Endpoint;
import reactor.core.publisher.Mono;

/// A door that is open. Safe from any thread.
public interface Door {
  /// Where it listens, with the port that was bound.
  Endpoint address();

  /// Connections that are open now.
  int connections();

  /// Takes no new connection and completes when no request is under way. Connections stay, and their reads are still
  /// answered. Lazy and idempotent.
  Mono<Void> drain();

  /// Ends connections and everything else. Lazy and idempotent; completes when no memory of the tiers is in use.
  Mono<Void> close();
}
