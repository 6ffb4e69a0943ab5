package io.penstock.wire.server.route;

import io.penstock.PenstockVersion;
import io.penstock.carrier.MemoryProbe;
import io.penstock.tier.TierInfo;
import io.penstock.wire.protocol.Handshake;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.server.call.Call;
import io.penstock.wire.server.space.ServedSpaces;
import io.penstock.wire.transport.AdvertisedEndpoints;
import io.rsocket.Payload;
import java.net.SocketAddress;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// The route `hello` on one connection of a node.
///
/// @param remote where the peer is, if its connection tells
public record HelloRoutes(ServedSpaces spaces, NodeCarriers carriers, Node node,
    @Nullable SocketAddress remote) {
  /// What a node tells of itself.
  ///
  /// @param generation of this start of the node
  /// @param rankGeneration generation of the node as a rank; null if it has none of its own
  public record Node(String name, long generation, AdvertisedEndpoints endpoints,
      @Nullable LongSupplier rankGeneration) {
    @Nullable Long rank() {
      return rankGeneration == null ? null : rankGeneration.getAsLong();
    }
  }

  Mono<Payload> hello(Call call) {
    Handshake.Hello hello = call.message(Handshake.Hello.class);
    return spaces.of(hello)
        .map(tier -> call.reply(welcome(tier.info(), carriers.answer(hello.carriers(), MemoryProbe.hasBlocks()))));
  }

  private Handshake.Welcome welcome(TierInfo info, @Nullable List<Handshake.CarrierOffer> offers) {
    Limits limits = spaces.limits();
    return new Handshake.Welcome(Routes.VERSION, PenstockVersion.current(), node.name(), info.name(),
        Handshake.Space.of(info.space()), limits.maxSliceBytes(), limits.windowBlocks(), limits.maxKeys(),
        info.capacityBlocks(), node.generation(), offers, AdvertisedEndpoints.hostToken().orElse(null),
        node.endpoints().towards(remote).stream().map(Handshake.Place::of).toList(),
        List.of(Handshake.VIEWS, Handshake.GRANULE_CHECKSUMS, Handshake.SHORT_GETS), node.rank());
  }
}
