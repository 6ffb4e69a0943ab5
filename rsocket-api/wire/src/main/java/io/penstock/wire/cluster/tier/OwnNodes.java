package io.penstock.wire.cluster.tier;

import io.penstock.block.BlockKey;
import io.penstock.tier.BlockTier;
import io.penstock.wire.cluster.ClusterDirectory;
import io.penstock.wire.cluster.Located;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.NotJoinedException;
import java.util.List;
import java.util.function.Predicate;
import reactor.core.publisher.Mono;

/// The nodes of a cluster as one of them reaches the others.
///
/// @param self whether a member is this node
/// @param own blocks of this node
record OwnNodes(ClusterDirectory directory, Predicate<Member> self, BlockTier own, Peers peers) implements Nodes {
  @Override
  public Mono<Located> locate(List<BlockKey> keys) {
    return directory.locate(keys);
  }

  @Override
  public Mono<List<Member>> members() {
    return Mono.fromSupplier(directory::members).filter(members -> !members.isEmpty())
        .switchIfEmpty(Mono.error(NotJoinedException::new)).doOnNext(peers::keep);
  }

  @Override
  public Mono<BlockTier> node(Member member) {
    return self.test(member) ? Mono.just(own) : peers.node(member);
  }

  @Override
  public Mono<Void> close() {
    return peers.close();
  }
}
