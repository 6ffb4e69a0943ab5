package io.penstock.wire.server.route;

import io.netty.buffer.ByteBufAllocator;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.BlockView;
import io.penstock.block.LayerSlice;
import io.penstock.block.SliceShape;
import io.penstock.block.session.SessionUse;
import io.penstock.carrier.SliceSender;
import io.penstock.operator.Failures;
import io.penstock.operator.Quiet;
import io.penstock.stage.SplitLayers;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.OnMiss;
import io.penstock.wire.credit.Budget;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.SessionMessages;
import io.penstock.wire.report.StreamClock;
import io.penstock.wire.security.Role;
import io.penstock.wire.server.call.Call;
import io.penstock.wire.server.call.CallClocks;
import io.penstock.wire.server.call.DrainGate;
import io.penstock.wire.server.call.StreamTickets;
import io.penstock.wire.server.space.ConnectionHolds;
import io.penstock.wire.server.space.ServedSpaces;
import io.penstock.wire.slice.InFlight;
import io.penstock.wire.slice.SliceFraming;
import io.penstock.wire.slice.SliceGate;
import io.rsocket.Payload;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// The route `get` on one connection of a node.
///
/// @param ranks renews the lease of a request at a prefill rank
/// @param outgoing send window of the connection
public record GetRoutes(ServedSpaces spaces, ConnectionHolds holds, NodeCarriers carriers, StreamTickets streams,
    CallClocks clocks, DrainGate gate, DisaggServices ranks, Budget outgoing, GetWaits waits,
    ByteBufAllocator allocator) {
  Flux<Payload> get(Call call) {
    Messages.GetRequest request = call.message(Messages.GetRequest.class);
    BlockTier tier = spaces.of(call, request.keys());
    BlockLayout layout = tier.info().space().layout();
    List<BlockKey> keys = spaces.keys(request.keys(), tier);
    OnMiss onMiss = request.miss();
    if (onMiss == OnMiss.ADMIT) { // the missing keys take the places of others
      spaces.require(call, Role.WRITER, call.route() + " with ADMIT", tier);
    }
    SliceShape shape = spaces.shape(request, layout);
    SliceSender sender = carriers.sender(request.proof());
    BlockView view = request.view() == null ? null : request.view().in(layout, shape.sliceBytes());
    SessionUse session = SessionMessages.Named.use(request.session());
    if (session != null) { // its blocks stay, and others leave
      spaces.require(call, Role.WRITER, call.route() + " with a session", tier);
    }
    boolean readerVerifies = request.isVerified() && view == null;
    return gate.working(() -> {
      InFlight inFlight = streams.enter(request.ticket());
      StreamClock clock = clocks.outgoing(call);
      SliceFraming framing = new SliceFraming(tier.info().space().id(), layout, allocator, sender,
          ranks.renewing(clock, request.request()), spaces.limits().maxSliceBytes(), readerVerifies, outgoing);
      return clock.over(Flux.using(inFlight::openScope,
          scope -> lease(tier, keys, onMiss, request.lease(), session, scope)
              .map(lease -> readerVerifies ? lease.unverified() : lease)
              .flatMapMany(lease -> slices(lease, shape, view, onMiss, scope)
                  .transform(slices -> SliceGate.of(slices, framing, () -> call.reply(found(lease)), inFlight,
                      waits.stall(onMiss), clock))),
          scope -> {
            scope.close();
            inFlight.over();
          }, false)); // after the last frame: a node that drains closes its connections when the last stream is over
    });
  }

  private Mono<Lease> lease(BlockTier tier, List<BlockKey> keys, OnMiss onMiss, @Nullable Long under,
      @Nullable SessionUse session, BlockScope scope) {
    return Failures.signalled(
        () -> under == null ? tier.lease(keys, onMiss, session, scope) : holds.in(tier).read(under, keys, scope));
  }

  private Flux<LayerSlice> slices(Lease lease, SliceShape shape, @Nullable BlockView view, OnMiss onMiss,
      BlockScope scope) {
    return view == null
        ? waits.limited(lease.slicedWindows(shape, scope), onMiss).transform(SplitLayers.into(scope))
        : waits.limited(Quiet.afterCancel(lease.views(view, shape, scope)), onMiss);
  }

  private static Messages.Found found(Lease lease) {
    return new Messages.Found(Messages.Bits.of(lease.hits()), Messages.Bits.of(lease.found()),
        Messages.Bits.of(lease.admitted()), Messages.Bits.of(lease.awaited()));
  }
}
