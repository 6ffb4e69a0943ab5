package io.penstock.node.replay;

import io.penstock.block.BlockKey;
import java.util.List;
import reactor.core.publisher.Mono;

/// Where a prefill party puts blocks: a tier in this process, or a node behind a connection.
interface BlockSink {
  /// Produces and puts the blocks of `keys`, in order. Blocks in other hands are passed over.
  Mono<Void> put(List<BlockKey> keys);
}
