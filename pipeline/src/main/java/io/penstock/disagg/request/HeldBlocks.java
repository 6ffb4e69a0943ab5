package io.penstock.disagg.request;

import reactor.core.publisher.Mono;

/// Blocks that one side keeps for a request.
@FunctionalInterface
public interface HeldBlocks {
  /// Gives the blocks up: no new read or write of them begins. Subscribed to once, when the request has ended.
  ///
  /// @return cold; completes when reads and writes under way have drained and the memory is free
  Mono<Void> release();

  /// Whether this and `other` are known to keep equal blocks, so that one of the two is enough.
  default boolean isSameAs(HeldBlocks other) {
    return false;
  }

  /// An object that holds no blocks.
  static HeldBlocks none() {
    return Mono::empty;
  }
}
