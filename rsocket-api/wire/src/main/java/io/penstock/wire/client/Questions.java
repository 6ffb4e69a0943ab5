package io.penstock.wire.client;

import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionPage;
import io.penstock.block.session.SessionState;
import io.penstock.block.session.SessionUse;
import io.penstock.tier.Presence;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.TierEvent;
import io.penstock.wire.client.link.NodeConnection;
import io.penstock.wire.cluster.ClusterMessages;
import io.penstock.wire.cluster.ClusterTask;
import io.penstock.wire.cluster.ClusterView;
import io.penstock.wire.cluster.Located;
import io.penstock.wire.cluster.TaskOrder;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.EventMessage;
import io.penstock.wire.protocol.Fields;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.protocol.SessionMessages;
import io.penstock.wire.protocol.StatMessages;
import io.penstock.wire.protocol.WireFailure;
import io.penstock.wire.report.LateErrors;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// What a client asks its node about one space, besides blocks.
record Questions(NodeConnection connection, SpaceId space, LookUps lookUps) {
  Mono<Integer> match(List<BlockKey> keys) {
    List<BlockKey> asked = BlockKey.distinct(keys, space);
    return connection.ask(Routes.MATCH, request(asked), Messages.MatchReply.class)
        .map(reply -> reply.of(asked.size()));
  }

  /// The prefix that is there, or what is being written right behind it, too.
  ///
  /// @param patience how long the node may wait for what is being written
  Mono<KvClient.Matched> pending(List<BlockKey> keys, @Nullable SessionUse session, Duration patience) {
    List<BlockKey> asked = BlockKey.distinct(keys, space);
    return connection.ask(Routes.MATCH,
        new Messages.KeysRequest(Messages.Keys.of(space, asked), null, null, SessionMessages.Named.of(session),
            patience.toMillis()),
        Messages.MatchReply.class)
        .map(reply -> new KvClient.Matched(reply.of(asked.size()), reply.pendingOf(asked.size())));
  }

  /// @return false also from a node of an earlier release, which knows no sessions
  Mono<Boolean> session(SessionUse session, SessionState state) {
    SessionMessages.Named named = new SessionMessages.Named(session.session().bytes(), session.priority(),
        session.keep() == null ? null : (Long) session.keep().toMillis());
    return connection.ask(Routes.SESSION,
        new SessionMessages.SessionRequest(named, state.name(), Fields.bytes(space)),
        SessionMessages.SessionReply.class).map(SessionMessages.SessionReply::known)
        .onErrorResume(Questions::isUnknownRoute, e -> Mono.just(false));
  }

  /// @return empty also from a node of an earlier release
  Mono<SessionPage> sessionKeys(SessionId session, @Nullable BlockKey after, int most) {
    return connection
        .ask(Routes.BLOCKS, SessionMessages.BlocksRequest.of(session, space, after, most),
            SessionMessages.BlocksReply.class)
        .onErrorResume(Questions::isUnknownRoute, e -> Mono.empty())
        .filter(SessionMessages.BlocksReply::known).map(reply -> reply.page(space));
  }

  private static boolean isUnknownRoute(Throwable e) {
    return e instanceof WireFailure.RemotePermanentException failure
        && failure.code() == ErrorCode.UNKNOWN_ROUTE.code();
  }

  Mono<Presence> contains(List<BlockKey> keys) {
    return lookUps.of(BlockKey.distinct(keys, space));
  }

  Mono<Presence> contains(List<BlockKey> keys, Durability least) {
    List<BlockKey> asked = BlockKey.distinct(keys, space);
    return connection
        .ask(Routes.EXISTS, new Messages.KeysRequest(Messages.Keys.of(space, asked), null, least.name()),
            Messages.ExistsReply.class)
        .map(reply -> reply.of(asked.size(), least));
  }

  Mono<Presence> remove(List<BlockKey> keys) {
    List<BlockKey> asked = BlockKey.distinct(keys, space);
    return connection.ask(Routes.REMOVE, request(asked), Messages.Bits.class).map(reply -> reply.of(asked.size()));
  }

  private Messages.KeysRequest request(List<BlockKey> asked) {
    return new Messages.KeysRequest(Messages.Keys.of(space, asked));
  }

  Mono<ClusterView> members() {
    return members(connection);
  }

  static Mono<ClusterView> members(NodeConnection connection) {
    return connection.ask(Routes.MEMBERS, new ClusterMessages.MembersRequest(), ClusterMessages.MembersReply.class)
        .map(ClusterMessages.MembersReply::view);
  }

  static Mono<List<ClusterTask>> tasks(NodeConnection connection) {
    return connection.ask(Routes.TASKS, new ClusterMessages.TasksRequest(), ClusterMessages.TasksReply.class)
        .map(ClusterMessages.TasksReply::all);
  }

  static Mono<ClusterTask> start(NodeConnection connection, TaskOrder order) {
    return connection.ask(Routes.TASK, ClusterMessages.TaskRequest.of(order), ClusterMessages.TaskReply.class)
        .map(ClusterMessages.TaskReply::started);
  }

  static Mono<Boolean> cancel(NodeConnection connection, String id) {
    return connection
        .ask(Routes.TASK, new ClusterMessages.TaskRequest(null, id), ClusterMessages.TaskReply.class)
        .map(ClusterMessages.TaskReply::cancelled);
  }

  Mono<Located> locate(List<BlockKey> keys) {
    List<BlockKey> asked = BlockKey.distinct(keys, space);
    return connection.ask(Routes.LOCATE, request(asked), ClusterMessages.LocateReply.class)
        .map(reply -> reply.of(asked.size()));
  }

  Mono<ServerStat> stat() {
    return connection.ask(Routes.STAT, new Messages.StatRequest(Fields.bytes(space)), StatMessages.StatReply.class)
        .map(ServerStat::of);
  }

  /// @param generation of the node that numbered `after`; null for any node
  Flux<TierEvent> events(long after, @Nullable Long generation) {
    return events(new Messages.EventsRequest(after, generation, Fields.bytes(space), null, true));
  }

  Flux<TierEvent> follow() {
    return events(new Messages.EventsRequest(0, null, Fields.bytes(space), true, true));
  }

  private Flux<TierEvent> events(Messages.EventsRequest request) {
    return Flux.defer(() -> connection.rsocket().requestStream(NodeConnection.request(Routes.EVENTS, request)))
        .contextWrite(LateErrors::ignoredIn)
        .map(payload -> NodeConnection.read(payload, EventMessage.class).event())
        .onErrorMap(connection::failure);
  }
}
