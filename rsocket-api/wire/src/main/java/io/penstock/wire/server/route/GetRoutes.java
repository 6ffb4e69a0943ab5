package io.penstock.wire.server.route;

import io.netty.buffer.ByteBufAllocator;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.BlockView;
import io.penstock.block.CacheSpace;
import io.penstock.block.LayerSlice;
import io.penstock.block.SliceShape;
import io.penstock.block.session.SessionUse;
import io.penstock.carrier.InlineCarrier;
import io.penstock.carrier.SliceSender;
import io.penstock.operator.Failures;
import io.penstock.operator.Quiet;
import io.penstock.stage.SplitLayers;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.OnMiss;
import io.penstock.wire.credit.Budget;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.SessionMessages;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.report.Carried;
import io.penstock.wire.report.StreamClock;
import io.penstock.wire.security.Role;
import io.penstock.wire.server.call.Call;
import io.penstock.wire.server.call.CallClocks;
import io.penstock.wire.server.call.DrainGate;
import io.penstock.wire.server.call.StreamTickets;
import io.penstock.wire.server.space.ConnectionHolds;
import io.penstock.wire.server.space.ServedSpaces;
import io.penstock.wire.slice.InFlight;
import io.penstock.wire.slice.SliceAnswer;
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
  /// What a request asks for, and may have.
  private record Asked(Messages.GetRequest request, BlockTier tier, List<BlockKey> keys, OnMiss onMiss,
      SliceShape shape, @Nullable SessionUse session) {}

  private Asked asked(Call call) {
    Messages.GetRequest request = call.message(Messages.GetRequest.class);
    BlockTier tier = spaces.of(call, request.keys());
    List<BlockKey> keys = spaces.keys(request.keys(), tier);
    OnMiss onMiss = request.miss();
    if (onMiss == OnMiss.ADMIT) { // the missing keys take the places of others
      spaces.require(call, Role.WRITER, call.route() + " with ADMIT", tier);
    }
    SliceShape shape = spaces.shape(request, tier.info().space().layout());
    SessionUse session = SessionMessages.Named.use(request.session());
    if (session != null) { // its blocks stay, and others leave
      spaces.require(call, Role.WRITER, call.route() + " with a session", tier);
    }
    return new Asked(request, tier, keys, onMiss, shape, session);
  }

  /// A stream of slices.
  Flux<Payload> get(Call call) {
    Asked asked = asked(call);
    Messages.GetRequest request = asked.request();
    OnMiss onMiss = asked.onMiss();
    SliceSender sender = carriers.sender(request.proof());
    BlockView view = request.view() == null
        ? null
        : request.view().in(asked.tier().info().space().layout(), asked.shape().sliceBytes());
    boolean readerVerifies = request.isVerified() && view == null;
    return gate.working(() -> {
      InFlight inFlight = streams.enter(request.ticket());
      StreamClock clock = clocks.outgoing(call);
      SliceFraming framing = framing(asked, sender, ranks.renewing(clock, request.request()), readerVerifies);
      return clock.over(Flux.using(inFlight::openScope,
          scope -> lease(asked, scope)
              .map(lease -> readerVerifies ? lease.unverified() : lease)
              .flatMapMany(lease -> slices(lease, asked.shape(), view, onMiss, scope)
                  .transform(slices -> SliceGate.of(slices, framing, () -> call.reply(found(lease)), inFlight,
                      waits.stall(onMiss), clock))),
          scope -> {
            scope.close();
            inFlight.over();
          }, false)); // after the last frame: a node that drains closes its connections when the last stream is over
    });
  }

  /// One slice with all blocks that were found; for a request that can only have such an answer.
  Flux<Payload> answer(Call call) {
    Asked asked = asked(call);
    Messages.GetRequest request = asked.request();
    requireShort(request, asked.onMiss());
    return gate.working(() -> {
      InFlight inFlight = streams.enter(request.ticket());
      StreamClock clock = clocks.outgoing(call);
      return SliceAnswer.of(
          new SliceAnswer.Question(asked.keys().size(), () -> atOnce(asked), scope -> lease(asked, scope),
              asked.shape(),
              request.isVerified()),
          framing(asked, InlineCarrier.INSTANCE, clock, request.isVerified()), inFlight, waits.stall(asked.onMiss()),
          clock);
    });
  }

  private static @Nullable List<LeasedBlock> atOnce(Asked asked) {
    return asked.request().isVerified() && asked.request().lease() == null
        ? asked.tier().tryGet(asked.keys(), asked.session())
        : null;
  }

  private static void requireShort(Messages.GetRequest request, OnMiss onMiss) {
    if (onMiss != OnMiss.SKIP) {
      throw WireFormatException.request("onMiss", "SKIP in a get with one answer", onMiss);
    } else if (request.view() != null || request.request() != null || request.proof() != null) {
      throw WireFormatException.request("view, request and proof", "absent in a get with one answer", "present");
    }
  }

  private SliceFraming framing(Asked asked, SliceSender sender, Carried carried, boolean readerVerifies) {
    CacheSpace space = asked.tier().info().space();
    return new SliceFraming(space.id(), space.layout(), allocator, sender, carried, spaces.limits().maxSliceBytes(),
        readerVerifies, outgoing);
  }

  private Mono<Lease> lease(Asked asked, BlockScope scope) {
    BlockTier tier = asked.tier();
    Long under = asked.request().lease();
    return Failures.signalled(() -> under == null
        ? tier.lease(asked.keys(), asked.onMiss(), asked.session(), scope)
        : holds.in(tier).read(under, asked.keys(), scope));
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
