package io.penstock.wire.rank;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import io.penstock.disagg.RankId;
import io.penstock.disagg.request.RequestAnswer;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.KvPeerOptions;
import io.penstock.wire.client.Lane;
import io.penstock.wire.client.link.NodeConnection;
import io.penstock.wire.protocol.DisaggMessages;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.Routes;
import io.rsocket.transport.ClientTransport;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// Requests of a prefill engine to a node that keeps the blocks of its requests for decode ranks, over connections that
/// are opened again when they are lost. Safe from any thread.
public final class RemoteRequests {
  private final Lane<NodeConnection> lane;

  private RemoteRequests(Lane<NodeConnection> lane) {
    this.lane = requireNonNull(lane, "lane");
  }

  /// @param transport to a node that is a prefill rank
  /// @param timers for pauses and idle connections; never used for work
  /// @param random of the jitter
  public static RemoteRequests of(ClientTransport transport, KvClientOptions options, KvPeerOptions connections,
      Scheduler timers, RandomGenerator random) {
    return new RemoteRequests(RegistryClient.lane(transport, "the prefill rank", options, connections, timers, random));
  }

  /// Asks the node to keep `keys` for receivers that are not known yet: each states their number.
  ///
  /// @return see [#keep(String, SpaceId, List, Set)]
  public Mono<RequestAnswer> keep(String request, SpaceId space, List<BlockKey> keys) {
    return keep(request, space, keys, Set.of());
  }

  /// Asks the node to keep `keys` until all `receivers` are done, one of them cancels, or the lease expires.
  ///
  /// @param request a name that serves one request
  /// @param keys of blocks that the node has; may be none
  /// @param receivers the ranks that read from it, or the one that releases it; empty if they are not known
  /// @return cold; whether the node keeps it now, or how the request has ended already, because its receivers were done
  ///     before. Signals `RemotePermanentException` if a block is not there or the name was used,
  ///     [io.penstock.tier.TierHolds.HoldLimitException] if the node would keep too many blocks
  public Mono<RequestAnswer> keep(String request, SpaceId space, List<BlockKey> keys, Set<RankId> receivers) {
    return ask(DisaggMessages.KeepRequest.of(request, Messages.Keys.of(space, keys), receivers))
        .map(DisaggMessages.KeepReply::answer);
  }

  /// Ends a request.
  ///
  /// @return cold; how the request had ended, if it had, or that the node does not know it
  public Mono<RequestAnswer> withdraw(String request) {
    return ask(new DisaggMessages.KeepRequest(request, null, null)).map(DisaggMessages.KeepReply::ended);
  }

  private Mono<DisaggMessages.KeepReply> ask(DisaggMessages.KeepRequest message) {
    return lane.with(node -> node.ask(Routes.KEEP, message, DisaggMessages.KeepReply.class)).next();
  }

  /// Ends the connections; work that runs fails. Lazy and idempotent.
  public Mono<Void> close() {
    return lane.close();
  }
}
