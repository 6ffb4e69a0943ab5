package io.penstock.node.replay;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.tier.OnMiss;
import io.penstock.wire.KvClient;
import java.util.List;
import reactor.core.publisher.Mono;

/// Slices of a node behind a connection, landed and verified in the client's arena.
final class WireSlices implements SliceSource {
  private final KvClient client;

  WireSlices(KvClient client) {
    this.client = client;
  }

  @Override
  public Mono<SliceLease> lease(List<BlockKey> keys, BlockScope scope) {
    return client.lease(keys, OnMiss.ADMIT, scope)
        .map(lease -> new SliceLease(lease.hits(), lease.admitted(), lease.slices(scope)));
  }
}
