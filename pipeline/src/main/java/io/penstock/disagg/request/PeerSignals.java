package io.penstock.disagg.request;

import io.penstock.disagg.Incarnation;
import reactor.core.publisher.Mono;

/// Carries signals to prefill ranks, each to the host on which its rank lives.
@FunctionalInterface
public interface PeerSignals {
  /// Sends a signal to `to` once. The receiver of a repeated signal ignores it.
  ///
  /// @return cold; completes when the rank has acknowledged, signals the reason if the signal could not be sent
  Mono<Void> send(Incarnation to, Signal signal);
}
