package io.penstock.wire.server.route;

import io.penstock.block.BlockKey;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierHolds.KeyFilter;
import io.penstock.tier.TierHolds.RemovalCount;
import io.penstock.wire.protocol.HoldMessages;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.server.call.Call;
import io.penstock.wire.server.space.ConnectionHolds;
import io.penstock.wire.server.space.ServedSpaces;
import io.rsocket.Payload;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// The routes `remove`, `pin` and `release` on one connection of a node.
///
/// @param turns runs the steps of a removal by pattern, in turns with heavy requests of other connections
public record HoldRoutes(ServedSpaces spaces, ConnectionHolds holds, Scheduler turns) {
  Mono<Payload> remove(Call call) {
    HoldMessages.RemoveRequest request = call.message(HoldMessages.RemoveRequest.class);
    if (request.keys() == null) {
      BlockTier tier = spaces.of(call, "space", request.space());
      KeyFilter which = request.pattern() == null ? KeyFilter.all() : HexPattern.filter(request.pattern());
      Flux<RemovalCount> steps = holds.in(tier).remove(which, request.isForced())
          .doOnNext(step -> call.rights().requireAll());
      return inTurns(steps).reduce(RemovalCount.NONE, RemovalCount::plus)
          .map(count -> call.reply(HoldMessages.Outcomes.of(count)));
    }
    BlockTier tier = spaces.of(call, request.keys());
    List<BlockKey> keys = spaces.keys(request.keys(), tier);
    return request.force() == null
        ? tier.remove(keys).map(removed -> call.reply(Messages.Bits.of(removed)))
        : holds.in(tier).remove(keys, request.isForced())
            .map(outcomes -> call.reply(HoldMessages.Outcomes.of(outcomes)));
  }

  private Flux<RemovalCount> inTurns(Flux<RemovalCount> steps) {
    return steps.concatMap(count -> Mono.just(count).subscribeOn(turns), 1).subscribeOn(turns);
  }

  Mono<Payload> pin(Call call) {
    HoldMessages.PinRequest request = call.message(HoldMessages.PinRequest.class);
    BlockTier tier = spaces.of(call, request.keys());
    return holds.in(tier).pin(spaces.keys(request.keys(), tier), request.pin().pin())
        .map(outcomes -> call.reply(HoldMessages.Outcomes.of(outcomes)));
  }

  Mono<Payload> release(Call call) {
    long lease = call.message(HoldMessages.ReleaseRequest.class).lease();
    return holds.release(lease, spaces.spaces().tiers())
        .map(released -> call.reply(new HoldMessages.ReleaseReply(released)));
  }
}
