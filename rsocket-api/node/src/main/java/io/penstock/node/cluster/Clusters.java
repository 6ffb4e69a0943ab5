package io.penstock.node.cluster;

import reactor.core.publisher.Mono;

/// An engine of clusters, found by `ServiceLoader`.
public interface Clusters {
  /// Joins a cluster, or forms it.
  ///
  /// @return cold; signals an `IOException` that names what could not be bound, resolved or read
  Mono<Membership> join(ClusterTerms terms);
}
