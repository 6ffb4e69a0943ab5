package io.penstock.node.link;

import io.penstock.wire.cluster.ClusterTask;
import io.penstock.wire.cluster.ClusterView;
import io.penstock.wire.cluster.TaskOrder;
import io.penstock.wire.transport.Endpoint;
import java.time.Duration;
import java.util.List;
import reactor.core.publisher.Mono;
import reactor.netty.resources.LoopResources;

/// A node that a command asks about its cluster. Each `Mono` is cold, and signals
/// [io.penstock.node.cli.UnavailableException] if the node is in no cluster, or does not listen.
public interface ClusterLink {
  /// Asks the node at `place`, over connections on `loops`, which stay the caller's.
  ///
  /// @param pass shown to the node
  /// @param patience longest wait for a connection
  static ClusterLink to(Endpoint place, NodePass pass, LoopResources loops, Duration patience) {
    return WireClusterLink.to(NodeAddress.of(place, null).shown(pass), loops, patience);
  }

  /// A failure to connect to a cluster by the node at `place`, as a user reads it.
  static Throwable told(Endpoint place, Throwable failure) {
    return failure instanceof RuntimeException known
        ? AllNodesLink.failure(NodeAddress.of(place, null), known)
        : failure;
  }

  /// The members, as the node knows them.
  Mono<ClusterView> members();

  /// The tasks of the node itself, the oldest first.
  Mono<List<ClusterTask>> tasks();

  /// Starts a task of the node itself.
  Mono<ClusterTask> start(TaskOrder order);

  /// Ends a task of the node itself; false if it does not run there.
  Mono<Boolean> cancel(String id);
}
