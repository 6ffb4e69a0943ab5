package io.penstock.wire;

import static java.util.Objects.requireNonNull;

import io.penstock.block.CacheSpace;
import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionState;
import io.penstock.block.session.SessionUse;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.KvPeerOptions;
import io.penstock.wire.client.Lane;
import io.penstock.wire.client.link.NodeConnection;
import io.penstock.wire.protocol.Handshake;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.protocol.SessionMessages;
import io.penstock.wire.transport.ConnectionListener;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import io.rsocket.transport.ClientTransport;
import java.util.List;
import java.util.random.RandomGenerator;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.netty.resources.LoopResources;

/// The sessions of a node, for a client that knows none of its spaces, such as a gateway: each request is for all
/// spaces without a salt. A connection that is lost is opened again. Safe from any thread.
public final class NodeSessions {
  private final Lane<NodeConnection> lane;

  private NodeSessions(Lane<NodeConnection> lane) {
    this.lane = requireNonNull(lane, "lane");
  }

  /// Sessions of the node at `place`.
  ///
  /// @param tcp how to connect there
  /// @param loops stay the caller's
  /// @param timers for pauses and idle connections; never used for work
  /// @param random of the jitter
  public static NodeSessions at(Endpoint place, TcpClientOptions tcp, KvClientOptions options, LoopResources loops,
      Scheduler timers, RandomGenerator random) {
    return of(TcpTransport.client(place, tcp, loops, ConnectionListener.noop()), options, KvPeerOptions.defaults(),
        timers, random);
  }

  /// @param transport to the node
  /// @param timers for pauses and idle connections; never used for work
  /// @param random of the jitter
  public static NodeSessions of(ClientTransport transport, KvClientOptions options, KvPeerOptions connections,
      Scheduler timers, RandomGenerator random) {
    Mono<NodeConnection> open = NodeConnection
        .limited(NodeConnection.open(transport, options.link(), "the node"), transport, options.link(), "the node");
    return new NodeSessions(new Lane<>(new Lane.Link<>(open, NodeConnection::onClose,
        connection -> Mono.fromRunnable(connection::end)), connections, timers, random));
  }

  /// Says in which state a session is from now on.
  ///
  /// @return cold; in how many spaces the session is known. A node of an earlier release takes the request for its
  ///     first space. Signals `ConnectionLostException`, `RemotePermanentException` for a user who may not write
  public Mono<Integer> state(SessionUse use, SessionState state) {
    SessionMessages.Named named = requireNonNull(SessionMessages.Named.of(use), "use");
    return lane.with(node -> node.ask(Routes.SESSION,
        new SessionMessages.SessionRequest(named, state.name(), null, true), SessionMessages.SessionReply.class)).next()
        .map(SessionMessages.SessionReply::count);
  }

  /// The spaces that know a session.
  ///
  /// @return cold; signals `RemotePermanentException` from a node of an earlier release
  public Mono<List<CacheSpace>> spaces(SessionId session) {
    return lane.with(node -> node.ask(Routes.BLOCKS, SessionMessages.BlocksRequest.of(session, null, null, 1),
        SessionMessages.BlocksReply.class)).next()
        .map(reply -> reply.spaces() == null
            ? List.<CacheSpace>of()
            : reply.spaces().stream().map(Handshake.Space::withoutSalt).toList());
  }

  /// Ends the connection; work that runs fails. Lazy and idempotent.
  public Mono<Void> close() {
    return lane.close();
  }
}
