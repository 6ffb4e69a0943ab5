package io.penstock.wire.cluster.tier;

import io.penstock.block.BlockKey;
import io.penstock.tier.BlockTier;
import io.penstock.wire.cluster.Located;
import io.penstock.wire.cluster.Member;
import java.util.List;
import reactor.core.publisher.Mono;

/// How the nodes of a cluster are reached. Each `Mono` is cold. Safe from any thread.
interface Nodes {
  /// Asks any node who has the blocks of `keys`.
  Mono<Located> locate(List<BlockKey> keys);

  /// The members, as any node knows them; perhaps as of a moment ago.
  Mono<List<Member>> members();

  /// The blocks of a member in its present start. Signals a transient failure if it cannot be reached, or has started
  /// again since.
  Mono<BlockTier> node(Member member);

  /// Members that are asked side by side for the parts of a request.
  default int together() {
    return Asked.SIDE_BY_SIDE;
  }

  Mono<Void> close();
}
