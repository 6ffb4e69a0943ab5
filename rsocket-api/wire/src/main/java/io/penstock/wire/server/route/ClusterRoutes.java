package io.penstock.wire.server.route;

import io.penstock.block.BlockKey;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierHolds.KeyFilter;
import io.penstock.wire.cluster.ClusterDirectory;
import io.penstock.wire.cluster.ClusterMessages;
import io.penstock.wire.cluster.ClusterTasks;
import io.penstock.wire.cluster.ClusterView;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.NotJoinedException;
import io.penstock.wire.cluster.TaskOrder;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.server.call.Call;
import io.penstock.wire.server.space.ServedSpaces;
import io.rsocket.Payload;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// The routes `members`, `locate`, `tasks` and `task` on one connection of a node. A draining node answers them, too:
/// its cluster goes on.
///
/// @param directory null on a node that is in no cluster
/// @param tasks null on such a node, too
public record ClusterRoutes(ServedSpaces spaces, @Nullable ClusterDirectory directory,
    @Nullable ClusterTasks tasks) {
  Mono<Payload> members(Call call) {
    ClusterDirectory known = served(call, directory);
    call.message(ClusterMessages.MembersRequest.class);
    return Mono.fromSupplier(() -> call.reply(ClusterMessages.MembersReply.of(
        new ClusterView(known.cluster(), present(known), known.quotas()))));
  }

  private static List<Member> present(ClusterDirectory known) {
    List<Member> members = known.members();
    if (members.isEmpty()) {
      throw new NotJoinedException();
    }
    return members;
  }

  Mono<Payload> locate(Call call) {
    ClusterDirectory known = served(call, directory);
    Messages.Keys asked = call.message(Messages.KeysRequest.class).keys();
    BlockTier tier = spaces.of(call, asked);
    List<BlockKey> keys = spaces.keys(asked, tier);
    return known.locate(keys).map(located -> call.reply(ClusterMessages.LocateReply.of(located)));
  }

  Mono<Payload> tasks(Call call) {
    ClusterTasks own = served(call, tasks);
    spaces.requireSegments(call);
    call.message(ClusterMessages.TasksRequest.class);
    return Mono.fromSupplier(() -> call.reply(ClusterMessages.TasksReply.of(own.tasks())));
  }

  /// Starts a task, or ends one. Its caller must be allowed to in every space.
  Mono<Payload> task(Call call) {
    ClusterTasks own = served(call, tasks);
    spaces.requireSegments(call);
    ClusterMessages.TaskRequest request = call.message(ClusterMessages.TaskRequest.class);
    String cancelled = request.cancel();
    if (cancelled != null) {
      return Mono.fromSupplier(() -> call.reply(new ClusterMessages.TaskReply(null, own.cancel(cancelled))));
    }
    TaskOrder order = request.taskOrder();
    KeyFilter which = order.pattern().isEmpty() ? KeyFilter.all() : HexPattern.filter(order.pattern());
    return Mono.fromSupplier(() -> call.reply(started(own, order, which)));
  }

  private static ClusterMessages.TaskReply started(ClusterTasks own, TaskOrder order, KeyFilter which) {
    try {
      return ClusterMessages.TaskReply.of(own.start(order, which));
    } catch (IllegalStateException e) {
      throw WireFormatException.request("order", "one that the node can do now", e);
    }
  }

  private static <T> T served(Call call, @Nullable T service) {
    if (service == null) {
      throw new WireFormatException(ErrorCode.UNKNOWN_ROUTE, "route", "one that is served outside a cluster",
          call.route());
    }
    return service;
  }
}
