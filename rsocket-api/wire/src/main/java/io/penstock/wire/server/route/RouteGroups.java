package io.penstock.wire.server.route;

import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.region.RegionRoutes;
import io.penstock.wire.server.call.Call;
import io.penstock.wire.server.call.DrainGate;
import io.penstock.wire.server.call.Request;
import io.rsocket.Payload;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Which group serves which route of one connection.
public record RouteGroups(DrainGate gate, HelloRoutes hello, LookUpRoutes lookUps, HoldRoutes holds, StatRoutes stat,
    EventRoutes events, DrainRoutes drain, RingRoutes rings, GetRoutes gets, PutRoutes puts, SegmentRoutes segments,
    RankRoutes ranks, ClusterRoutes cluster, RegionRoutes regions) {
  /// What answers a question about visible blocks at once; null if nothing does, or the request is another one.
  public @Nullable Callable<Payload> atOnce(Call call) {
    return switch (call.route()) {
      case Routes.MATCH -> lookUps.matchAtOnce(call);
      case Routes.EXISTS -> lookUps.existsAtOnce(call);
      default -> null;
    };
  }

  /// One answer.
  public Mono<Payload> answered(Call call) {
    return switch (call.route()) {
      case Routes.HELLO -> hello.hello(call);
      case Routes.MATCH -> lookUps.match(call);
      case Routes.EXISTS -> lookUps.exists(call);
      case Routes.REMOVE -> gate.working(() -> holds.remove(call));
      case Routes.PIN -> gate.working(() -> holds.pin(call));
      case Routes.SESSION -> lookUps.session(call);
      case Routes.BLOCKS -> lookUps.blocks(call);
      case Routes.RELEASE -> holds.release(call);
      case Routes.STAT -> stat.stat(call);
      case Routes.DRAIN -> drain.drain(call);
      case Routes.MEMBERS -> cluster.members(call);
      case Routes.LOCATE -> cluster.locate(call);
      case Routes.TASKS -> cluster.tasks(call);
      case Routes.TASK -> cluster.task(call);
      case Routes.RING -> gate.working(() -> rings.ring(call));
      case Routes.REGION -> gate.working(() -> regions.region(call));
      case Routes.STORE -> gate.working(() -> regions.store(call));
      case Routes.LOAD -> gate.working(() -> regions.load(call));
      case Routes.KEEP -> gate.working(() -> ranks.answered(call));
      default -> ranks.serves(call.route()) ? ranks.answered(call) : segments.answered(call);
    };
  }

  /// No answer.
  public void told(Call call) {
    if (!call.route().equals(Routes.LANDED)) {
      throw unknown(call.route(), "fire and forget");
    }
    drain.landed(call);
  }

  /// A stream of answers.
  public Flux<Payload> streamed(Call call) {
    return switch (call.route()) {
      case Routes.GET -> gets.get(call);
      case Routes.EVENTS -> events.events(call);
      default -> gate.working(() -> segments.streamed(call));
    };
  }

  /// One answer to a `get`, which runs as a stream does.
  public Flux<Payload> answeredByGet(Call call) {
    return gets.answer(call);
  }

  /// A channel.
  ///
  /// @param request ends with it
  public CoreSubscriber<Payload> opened(Call call, Request request, CoreSubscriber<? super Payload> out) {
    if (call.route().equals(Routes.PUT)) {
      return puts.put(call, request, out);
    } else if (segments.serves(call.route())) {
      return gate.working(() -> segments.written(call, request, out));
    }
    throw unknown(call.route(), "request/channel");
  }

  private static WireFormatException unknown(String route, String interaction) {
    return new WireFormatException(ErrorCode.UNKNOWN_ROUTE, "route", "one that is served by " + interaction, route);
  }
}
