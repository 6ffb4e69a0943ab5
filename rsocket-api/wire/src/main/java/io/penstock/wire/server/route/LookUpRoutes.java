package io.penstock.wire.server.route;

import io.penstock.block.BlockKey;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.TierHolds.LeaseTerms;
import io.penstock.tier.TierHolds.ReadLease;
import io.penstock.wire.protocol.HoldMessages;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.server.call.Call;
import io.penstock.wire.server.call.DrainGate;
import io.penstock.wire.server.space.ConnectionHolds;
import io.penstock.wire.server.space.ServedSpaces;
import io.rsocket.Payload;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// The routes `match` and `exists` on one connection of a node.
public record LookUpRoutes(ServedSpaces spaces, ConnectionHolds holds, DrainGate gate) {
  /// What answers `match` at once; null if it takes longer.
  @Nullable Callable<Payload> matchAtOnce(Call call) {
    Messages.KeysRequest request = matched(call);
    if (request.lease() != null) {
      return null;
    }
    BlockTier tier = spaces.of(call, request.keys());
    return atOnce(tier.match(spaces.keys(request.keys(), tier)),
        prefix -> call.reply(new Messages.MatchReply(prefix)));
  }

  private static Messages.KeysRequest matched(Call call) {
    Messages.KeysRequest request = call.message(Messages.KeysRequest.class);
    if (request.durability() != null) {
      throw WireFormatException.request("durability", "absent in match", request.durability());
    }
    return request;
  }

  /// What answers `exists` at once; null if it takes longer.
  @Nullable Callable<Payload> existsAtOnce(Call call) {
    Messages.KeysRequest request = call.message(Messages.KeysRequest.class);
    if (request.lease() != null) {
      return null;
    }
    BlockTier tier = spaces.of(call, request.keys());
    List<BlockKey> keys = spaces.keys(request.keys(), tier);
    Durability least = request.least();
    return least == null
        ? atOnce(tier.contains(keys), present -> call.reply(Messages.Bits.of(present)))
        : atOnce(tier.contains(keys, least), present -> call.reply(Messages.ExistsReply.of(present, least)));
  }

  /// The call behind a `Mono` that computes its value by one; null for another `Mono`.
  @SuppressWarnings("unchecked") // a callable Mono calls for what it emits
  private static <T> @Nullable Callable<Payload> atOnce(Mono<T> answer, Function<T, Payload> reply) {
    return answer instanceof Callable<?> ready ? () -> reply.apply(((Callable<T>) ready).call()) : null;
  }

  Mono<Payload> match(Call call) {
    Messages.KeysRequest request = matched(call);
    BlockTier tier = spaces.of(call, request.keys());
    List<BlockKey> keys = spaces.keys(request.keys(), tier);
    HoldMessages.LeaseWanted wanted = request.lease();
    return wanted == null
        ? tier.match(keys).map(prefix -> call.reply(new Messages.MatchReply(prefix)))
        : leased(call, tier, keys, wanted.terms(true)).map(lease -> call
            .reply(new Messages.MatchReply(lease.found().prefix(), HoldMessages.LeaseGiven.of(lease))));
  }

  Mono<Payload> exists(Call call) {
    Messages.KeysRequest request = call.message(Messages.KeysRequest.class);
    BlockTier tier = spaces.of(call, request.keys());
    List<BlockKey> keys = spaces.keys(request.keys(), tier);
    HoldMessages.LeaseWanted wanted = request.lease();
    Durability least = request.least();
    if (least != null) {
      return tier.contains(keys, least).map(present -> call.reply(Messages.ExistsReply.of(present, least)));
    }
    return wanted == null
        ? tier.contains(keys).map(present -> call.reply(Messages.Bits.of(present)))
        : leased(call, tier, keys, wanted.terms(false)).map(lease -> call
            .reply(Messages.ExistsReply.of(lease.found(), HoldMessages.LeaseGiven.of(lease))));
  }

  private Mono<ReadLease> leased(Call call, BlockTier tier, List<BlockKey> keys, LeaseTerms terms) {
    return gate.working(() -> holds.lease(tier, keys, terms)).doOnNext(lease -> {
      if (spaces.lacks(call.route(), tier)) { // the right was lost meanwhile
        holds.endWhere(tier::equals);
      }
    });
  }
}
