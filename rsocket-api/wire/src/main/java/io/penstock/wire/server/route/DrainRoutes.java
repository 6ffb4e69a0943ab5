package io.penstock.wire.server.route;

import io.penstock.wire.protocol.Messages;
import io.penstock.wire.server.call.Call;
import io.penstock.wire.server.call.StreamTickets;
import io.rsocket.Payload;
import reactor.core.publisher.Mono;

/// The routes `drain` and `landed` on one connection of a node: when the memory of a stream is free.
public record DrainRoutes(StreamTickets streams, NodeCarriers carriers) {
  Mono<Payload> drain(Call call) {
    long ticket = call.message(Messages.DrainRequest.class).ticket();
    carriers.look(); // a lease of a read ring may have been given back just before
    return streams.drained(ticket).thenReturn(true).map(drained -> call.reply(new Messages.DrainReply(drained)));
  }

  void landed(Call call) {
    streams.landed(call.message(Messages.Landed.class));
  }
}
