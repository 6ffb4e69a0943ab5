package io.penstock.wire.server.route;

import io.penstock.block.BlockKey;
import io.penstock.tier.BlockTier;
import io.penstock.wire.cluster.ClusterDirectory;
import io.penstock.wire.cluster.ClusterMessages;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.server.call.Call;
import io.penstock.wire.server.space.ServedSpaces;
import io.rsocket.Payload;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// The routes `members` and `locate` on one connection of a node. A draining node answers them, too: its cluster goes
/// on.
///
/// @param directory null on a node that is in no cluster
public record ClusterRoutes(ServedSpaces spaces, @Nullable ClusterDirectory directory) {
  Mono<Payload> members(Call call) {
    ClusterDirectory known = directory(call);
    call.message(ClusterMessages.MembersRequest.class);
    return Mono.fromSupplier(() -> call.reply(ClusterMessages.MembersReply.of(known.cluster(), known.members())));
  }

  Mono<Payload> locate(Call call) {
    ClusterDirectory known = directory(call);
    Messages.Keys asked = call.message(Messages.KeysRequest.class).keys();
    BlockTier tier = spaces.of(call, asked);
    List<BlockKey> keys = spaces.keys(asked, tier);
    return known.locate(keys).map(located -> call.reply(ClusterMessages.LocateReply.of(located)));
  }

  private ClusterDirectory directory(Call call) {
    if (directory == null) {
      throw new WireFormatException(ErrorCode.UNKNOWN_ROUTE, "route", "one of a node without a cluster", call.route());
    }
    return directory;
  }
}
