package io.penstock.cluster;

import io.penstock.cluster.infinispan.Joining;
import io.penstock.node.cluster.ClusterTerms;
import io.penstock.node.cluster.Clusters;
import io.penstock.node.cluster.Membership;
import reactor.core.publisher.Mono;

/// Clusters that embedded Infinispan keeps.
public final class InfinispanClusters implements Clusters {
  /// For `ServiceLoader`.
  public InfinispanClusters() {}

  @Override
  public Mono<Membership> join(ClusterTerms terms) {
    return Mono.defer(() -> Joining.defaults().join(terms));
  }
}
