package io.penstock.wire.server.route;

import io.penstock.disagg.registry.RankRegistry;
import io.penstock.disagg.request.KvConnector;
import io.penstock.disagg.request.PrefillConnector;
import io.penstock.wire.cluster.ClusterDirectory;
import io.penstock.wire.cluster.ClusterTasks;
import io.penstock.wire.cluster.GatewayBoard;
import io.penstock.wire.report.Carried;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// What a node serves beside blocks, so that prefill and decode ranks find each other and agree on ends.
///
/// @param registry of ranks; null on a node that keeps none
/// @param rank what this node does as a rank; null on a node that is none, or whose engine has the connector
/// @param cluster of the node; null on a node that is in none
/// @param tasks of the node; null on a node that is in no cluster
/// @param generation of the node as a rank, which a registry may tell it late; 0 before that. Null if it is that of the
///     node
/// @param gateways that share quotas; null on a node that does not let them
public record DisaggServices(@Nullable RankRegistry registry, @Nullable KvConnector rank,
    @Nullable ClusterDirectory cluster, @Nullable ClusterTasks tasks, @Nullable LongSupplier generation,
    @Nullable GatewayBoard gateways) {
  public DisaggServices(@Nullable RankRegistry registry, @Nullable KvConnector rank,
      @Nullable LongSupplier generation) {
    this(registry, rank, null, null, generation, null);
  }

  /// A rank whose generation is that of the node.
  public DisaggServices(@Nullable RankRegistry registry, @Nullable KvConnector rank) {
    this(registry, rank, null, null, null, null);
  }

  /// These services of a node that is in a cluster.
  public DisaggServices withCluster(ClusterDirectory directory, ClusterTasks own) {
    return new DisaggServices(registry, rank, directory, own, generation, gateways);
  }

  /// These services of a node that lets gateways tell each other what their tenants use.
  public DisaggServices withGateways(GatewayBoard board) {
    return new DisaggServices(registry, rank, cluster, tasks, generation, board);
  }

  /// The requests whose blocks this node keeps as a prefill rank; null on another node.
  public @Nullable PrefillConnector kept() {
    return rank instanceof PrefillConnector prefill ? prefill : null;
  }

  /// Minimum wait of a `get`: a prefill rank lets it wait as long for pushed layers as receivers do.
  public Duration leastAwait() {
    PrefillConnector kept = kept();
    return kept == null ? Duration.ZERO : kept.options().firstByte();
  }

  /// Counter of the slices of a `get` that renews the lease of the request that the `get` is for.
  ///
  /// @param request null for none
  Carried renewing(Carried counted, @Nullable String request) {
    PrefillConnector requests = kept();
    return requests == null || request == null ? counted : (bytes, shared) -> {
      counted.count(bytes, shared);
      requests.moved(request);
    };
  }

  /// A node that serves neither.
  public static DisaggServices none() {
    return new DisaggServices(null, null);
  }
}
