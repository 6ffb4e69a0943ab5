package io.penstock.disagg.request;

import java.util.Optional;
import reactor.core.publisher.Mono;

/// What one rank does for requests whose KV cache goes from rank to rank. The engine of the rank calls it, and the node
/// of the rank serves it beside the blocks.
public sealed interface KvConnector permits PrefillConnector, DecodeConnector {
  /// How far a request has come; empty for one that this rank does not keep or receive.
  Optional<RequestState> state(String request);

  /// Ends all requests; expects no others.
  ///
  /// @return cold; completes when blocks that this rank keeps have drained
  Mono<Void> close();
}
