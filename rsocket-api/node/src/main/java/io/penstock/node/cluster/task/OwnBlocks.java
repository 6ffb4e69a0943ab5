package io.penstock.node.cluster.task;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierEvent;
import io.penstock.wire.cluster.tier.ClusterTier;
import reactor.core.publisher.Flux;

/// The blocks that this node has of one space, and the cluster as this node sees it.
///
/// @param own blocks of this node
/// @param cluster for the same space
public record OwnBlocks(BlockTier own, ClusterTier cluster) {
  public OwnBlocks {
    requireNonNull(own, "own");
    requireNonNull(cluster, "cluster");
  }

  long blockBytes() {
    return own.info().space().layout().blockBytes();
  }

  /// The keys of the visible blocks, in no order; a block that comes meanwhile may be there or not. Keys may come
  /// twice.
  Flux<BlockKey> keys() {
    return own.follow().takeUntil(event -> event instanceof TierEvent.SnapshotEnded)
        .mapNotNull(event -> switch (event) {
          case TierEvent.Present present -> present.key();
          case TierEvent.Stored stored -> stored.key();
          default -> null;
        });
  }
}
