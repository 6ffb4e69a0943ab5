package io.penstock.disagg.request;

import reactor.core.publisher.Mono;

/// Moves the bytes of one shard from their source into the blocks of a request: pulled or pushed, over any carrier.
///
/// A mover asks its ticket before each write whether it may still write, and reports to it the bytes that landed. A
/// mover may queue behind other moves of its source; a source that stalls must not delay the moves of other sources.
@FunctionalInterface
public interface ShardMover {
  /// Moves everything that the source of `ticket` has for the request, and verifies it.
  ///
  /// @return cold, subscribed to once; completes when all bytes have landed, or signals why they do not. A cancel
  ///     stops it
  Mono<Void> move(MoveTicket ticket);

  /// The acknowledgement that a cancel lacks.
  ///
  /// @return cold; completes when a move that has ended touches no memory any more. Must not fail
  default Mono<Void> drained(MoveTicket ticket) {
    return Mono.empty();
  }
}
