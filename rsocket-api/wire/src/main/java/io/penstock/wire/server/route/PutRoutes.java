package io.penstock.wire.server.route;

import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.wire.protocol.PutMessages;
import io.penstock.wire.server.call.Call;
import io.penstock.wire.server.call.CallClocks;
import io.penstock.wire.server.call.DrainGate;
import io.penstock.wire.server.call.Request;
import io.penstock.wire.server.call.StreamTickets;
import io.penstock.wire.server.space.ServedSpaces;
import io.penstock.wire.slice.InFlight;
import io.rsocket.Payload;
import java.util.List;
import reactor.core.CoreSubscriber;

/// The route `put` on one connection of a node.
public record PutRoutes(ServedSpaces spaces, NodeCarriers carriers, StreamTickets streams, CallClocks clocks,
    DrainGate gate,
    PutReceiver.Bounds bounds) {
  CoreSubscriber<Payload> put(Call call, Request request, CoreSubscriber<? super Payload> out) {
    PutMessages.PutRequest put = call.message(PutMessages.PutRequest.class);
    BlockTier tier = spaces.of(call, put.keys());
    List<BlockKey> keys = spaces.keys(put.keys(), tier);
    int sliceBytes = spaces.sliceBytes(put.maxSliceBytes(), tier.info().space().layout());
    int windowBlocks = spaces.windowBlocks(put.windowBlocks());
    CacheSpace space = tier.info().space();
    PutTerms terms = put.terms(keys, space.group().strideTokens(space.layout()), spaces.limits().maxKeys());
    return gate.working(() -> {
      InFlight inFlight = streams.enter(put.ticket());
      return new PutReceiver(out, new PutReceiver.Setting(tier, terms, put.wantsOutcomes(), bounds, sliceBytes,
          windowBlocks, call::reply, carriers.receiver(), () -> {
            request.close();
            inFlight.over();
          }, clocks.incoming(call)), keys);
    });
  }
}
