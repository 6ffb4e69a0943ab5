package io.penstock.node.link;

import io.penstock.block.CacheSpace;
import io.penstock.block.session.SessionId;
import io.penstock.disagg.registry.InstanceView;
import io.penstock.disagg.request.RequestAnswer;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierHolds;
import io.penstock.wire.client.ServerStat;
import io.penstock.wire.rank.RemoteRequests;
import java.util.List;
import java.util.function.Function;
import reactor.core.publisher.Mono;

/// A node that a command talks to. Closing it ends the connection and frees its resources.
public interface NodeLink extends AutoCloseable {
  /// The node's tier, as if it were here.
  BlockTier tier();

  /// The read leases, pins and removals of this link at the node.
  default TierHolds holds() {
    return tier().holds(this);
  }

  /// The node's report about itself.
  Mono<ServerStat> stat();

  /// The prefill and decode instances that the node knows.
  default Mono<List<InstanceView>> instances() {
    return Mono.error(new IllegalStateException("link must name no space to ask for instances (named one)"));
  }

  /// The node as a member of a cluster.
  default ClusterLink cluster() {
    throw new IllegalStateException("link must name no space to ask about a cluster (named one)");
  }

  /// The spaces without a salt that know a session.
  default Mono<List<CacheSpace>> spaces(SessionId session) {
    return Mono.error(new IllegalStateException("link must name no space to ask for spaces (named one)"));
  }

  /// Another link to the node, which names `space`.
  default NodeLink in(CacheSpace space) {
    throw new IllegalStateException("link must name no space to be linked with one (named one)");
  }

  /// Runs `work` with the requests that the node keeps as a prefill rank.
  default Mono<RequestAnswer> requests(Function<RemoteRequests, Mono<RequestAnswer>> work) {
    return Mono.error(new IllegalStateException("link must name a space to keep blocks (named none)"));
  }

  /// Carriers of the bytes so far.
  default Carriage carriage() {
    return Carriage.none();
  }

  @Override
  void close();
}
