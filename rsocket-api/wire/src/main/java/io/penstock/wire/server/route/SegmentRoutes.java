package io.penstock.wire.server.route;

import io.netty.buffer.ByteBufAllocator;
import io.penstock.wire.credit.Budget;
import io.penstock.wire.credit.SilenceLimit;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.protocol.SegmentMessages;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.segment.ConnectionWrites;
import io.penstock.wire.segment.SegmentLanding;
import io.penstock.wire.segment.SegmentReceiver;
import io.penstock.wire.segment.SegmentRoom;
import io.penstock.wire.segment.SegmentSender;
import io.penstock.wire.segment.SharedSlices;
import io.penstock.wire.segment.StagingSlots;
import io.penstock.wire.server.call.Call;
import io.penstock.wire.server.call.CallClocks;
import io.penstock.wire.server.call.Request;
import io.penstock.wire.server.call.StreamTickets;
import io.penstock.wire.server.space.ServedSpaces;
import io.penstock.wire.slice.InFlight;
import io.penstock.wire.transfer.SegmentRegistry;
import io.rsocket.Payload;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// The routes of segments on one connection of a node.
///
/// @param spaces knows what the caller may
/// @param registry null on a node that serves no segments
/// @param writes of the connection
/// @param most bytes a slice
/// @param outgoing send window of the connection
/// @param carriers of the connection
/// @param staging for bytes that other processes cannot map where they are
/// @param incoming what the connection may have on its way in
/// @param reading how long a reader may stand still
/// @param writing how long a sender may stand still
public record SegmentRoutes(ServedSpaces spaces, @Nullable SegmentRegistry registry, ConnectionWrites writes, int most,
    Budget outgoing,
    Budget incoming,
    StreamTickets streams, SilenceLimit.Rule reading, SilenceLimit.Rule writing, ByteBufAllocator allocator,
    CallClocks clocks, NodeCarriers carriers, StagingSlots staging) {
  private static final long NO_TICKET = 0;

  /// Whether this node answers `route`.
  boolean serves(String route) {
    return registry != null && switch (route) {
      case Routes.SEGMENTS, Routes.READ, Routes.WRITE, Routes.NOTIFY -> true;
      default -> false;
    };
  }

  private SegmentRegistry registry(Call call, String interaction) {
    if (registry == null) {
      throw unknown(call, interaction);
    }
    spaces.requireSegments(call);
    return registry;
  }

  private static WireFormatException unknown(Call call, String interaction) {
    return new WireFormatException(ErrorCode.UNKNOWN_ROUTE, "route", "one that is served by " + interaction,
        call.route());
  }

  Mono<Payload> answered(Call call) {
    SegmentRegistry known = registry(call, "request/response");
    return switch (call.route()) {
      case Routes.SEGMENTS -> {
        SegmentMessages.SegmentsRequest asked = call.message(SegmentMessages.SegmentsRequest.class);
        Long engine = asked.engine();
        boolean mayWrite = spaces.allowsSegments(Routes.WRITE); // who may not, ends no writes of others
        yield (engine == null || !mayWrite ? Mono.<Void>empty() : writes.belongTo(engine, asked.order()))
            .then(Mono.fromSupplier(
                () -> call.reply(SegmentMessages.SegmentsReply.of(known.snapshot(), most,
                    carriers.answer(asked.carriers(), true)))));
      }
      case Routes.NOTIFY -> {
        SegmentMessages.NotifyRequest letter = call.message(SegmentMessages.NotifyRequest.class);
        letter.requireIntact();
        known.accept(letter.engine(), letter.sequence(), letter.generation(), letter.notification());
        yield Mono.just(call.reply(new SegmentMessages.NotifyReply(true)));
      }
      default -> throw unknown(call, "request/response");
    };
  }

  Flux<Payload> streamed(Call call) {
    SegmentRegistry known = registry(call, "request/stream");
    if (!call.route().equals(Routes.READ)) {
      throw unknown(call, "request/stream");
    }
    SegmentMessages.ItemRequest item = call.message(SegmentMessages.ItemRequest.class);
    item.requireIn(most);
    return Flux.defer(() -> {
      // Everything that may refuse the request comes before the hold, which only the end of the stream gives back.
      SegmentSender.Setting setting =
          new SegmentSender.Setting(item, outgoing, allocator, reading, clocks.outgoing(call),
              SharedSlices.of(carriers.sharedSender(item.proof()), staging));
      SegmentRegistry.Hold hold = known.hold(item.ranges());
      InFlight inFlight = entered(hold);
      return sent(new SegmentRoom(hold, inFlight), setting, inFlight);
    });
  }

  CoreSubscriber<Payload> written(Call call, Request request, CoreSubscriber<? super Payload> out) {
    SegmentRegistry known = registry(call, "request/channel");
    SegmentMessages.ItemRequest item = call.message(SegmentMessages.ItemRequest.class);
    item.requireIn(most);
    SegmentRegistry.Hold hold = known.hold(item.ranges());
    InFlight inFlight = entered(hold);
    try {
      SegmentReceiver write = new SegmentReceiver(out, new SegmentRoom(hold, inFlight),
          memory -> new SegmentLanding(memory, item, carriers.receiver()), incoming, item.maxSliceBytes(), writing,
          () -> call.reply(new SegmentMessages.WriteReply(item.length())), ended -> {
            request.close();
            writes.leave(ended);
            inFlight.over();
          }, clocks.incoming(call));
      writes.enter(write);
      return write;
    } catch (RuntimeException | Error e) {
      inFlight.over();
      throw e;
    }
  }

  private static Publisher<Payload> sent(SegmentRoom room, SegmentSender.Setting setting, InFlight inFlight) {
    if (!room.isStaged()) {
      return new SegmentSender(room.memory(), setting, inFlight, null);
    }
    return setting.clock()
        .over(Mono.<List<MemorySegment>>create(sink -> room.fetch(sink::success, sink::error))
            .flatMapMany(memory -> new SegmentSender(memory, setting, inFlight, null)))
        .doFinally(end -> {
          room.leave();
          inFlight.over();
        });
  }

  /// A stream that holds memory until it is drained.
  private InFlight entered(SegmentRegistry.Hold hold) {
    try {
      return streams.enter(NO_TICKET);
    } catch (RuntimeException | Error e) {
      hold.close();
      throw e;
    }
  }
}
