package io.penstock.wire.server.route;

import io.netty.buffer.ByteBufAllocator;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierEvent;
import io.penstock.wire.protocol.EventMessage;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.server.call.Call;
import io.penstock.wire.server.call.ReplyGate;
import io.penstock.wire.server.call.StreamTickets;
import io.penstock.wire.server.space.ServedSpaces;
import io.penstock.wire.slice.InFlight;
import io.rsocket.Payload;
import reactor.core.publisher.Flux;

/// The route `events` on one connection of a node.
///
/// @param generation of this start of the node
public record EventRoutes(ServedSpaces spaces, StreamTickets streams, ByteBufAllocator allocator, long generation) {
  Flux<Payload> events(Call call) {
    Messages.EventsRequest request = call.message(Messages.EventsRequest.class);
    BlockTier tier = spaces.of(call, "space", request.space());
    InFlight inFlight = streams.enterEndless();
    Flux<TierEvent> events = tier.stat().flatMapMany(stat -> {
      request.requireKnown(generation, stat.lastSequence());
      Flux<TierEvent> all = request.isSnapshot() ? tier.follow() : tier.events(request.after());
      return request.wantsSessions() ? all : all.filter(event -> !(event instanceof TierEvent.SessionEnded));
    });
    return ReplyGate.of(events, event -> call.codec().encode(EventMessage.of(event), allocator), allocator)
        .doFinally(end -> inFlight.over());
  }
}
