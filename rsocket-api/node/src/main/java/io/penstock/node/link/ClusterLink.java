package io.penstock.node.link;

import io.penstock.wire.cluster.ClusterTask;
import io.penstock.wire.cluster.ClusterView;
import io.penstock.wire.cluster.TaskOrder;
import java.util.List;
import reactor.core.publisher.Mono;

/// A node that a command asks about its cluster. Each `Mono` is cold, and signals
/// [io.penstock.node.cli.UnavailableException] if the node is in no cluster, or does not listen.
public interface ClusterLink {
  /// The members, as the node knows them.
  Mono<ClusterView> members();

  /// The tasks of the node itself, the oldest first.
  Mono<List<ClusterTask>> tasks();

  /// Starts a task of the node itself.
  Mono<ClusterTask> start(TaskOrder order);

  /// Ends a task of the node itself; false if it does not run there.
  Mono<Boolean> cancel(String id);
}
