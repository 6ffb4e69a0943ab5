package io.penstock.node.replay;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import java.util.List;
import reactor.core.publisher.Mono;

/// Where a decode party leases blocks: a tier in this process, or a node behind a connection.
interface SliceSource {
  /// Decides on `keys` in their order, admits those that are missing, and answers at once.
  ///
  /// @param scope owns the lease and every slice
  Mono<SliceLease> lease(List<BlockKey> keys, BlockScope scope);
}
