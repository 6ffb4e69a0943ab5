package io.penstock.disagg.request;

import io.penstock.disagg.Incarnation;
import reactor.core.publisher.Mono;

/// Carries signals to prefill ranks, each to the host on which its rank lives.
@FunctionalInterface
public interface PeerSignals {
  /// Sends a signal to `to` once. The receiver of a repeated signal ignores it.
  ///
  /// @return cold; what became of it at the rank. Signals the reason if the signal could not be sent
  Mono<RequestAnswer> send(Incarnation to, Signal signal);
}
