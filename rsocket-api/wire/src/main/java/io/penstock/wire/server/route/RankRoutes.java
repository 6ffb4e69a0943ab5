package io.penstock.wire.server.route;

import io.penstock.block.BlockKey;
import io.penstock.disagg.Incarnation;
import io.penstock.disagg.RankId;
import io.penstock.disagg.plan.PlanRefusedException;
import io.penstock.disagg.registry.RankOwner;
import io.penstock.disagg.registry.RankRegistry;
import io.penstock.disagg.registry.Registrant;
import io.penstock.disagg.registry.RegistrationRefusedException;
import io.penstock.disagg.request.PrefillConnector;
import io.penstock.disagg.request.RequestAnswer;
import io.penstock.disagg.request.RequestAnswer.Outcome;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierHolds.HoldLimitException;
import io.penstock.wire.cluster.ClusterMessages;
import io.penstock.wire.cluster.GatewayBoard;
import io.penstock.wire.cluster.GatewayUse;
import io.penstock.wire.protocol.DisaggMessages;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.protocol.WireFailure.DrainingException;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.server.call.Call;
import io.penstock.wire.server.call.HeldRights;
import io.penstock.wire.server.space.LeasedBlocks;
import io.penstock.wire.server.space.ServedSpaces;
import io.rsocket.Payload;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// The routes of prefill and decode ranks on one connection of a node.
///
/// @param spaces knows the rights of the caller
/// @param from the caller
/// @param generation of this start of the node
/// @param held withdraws kept requests whose caller loses the right to keep them
/// @param timers runs the steps of the registry: a heartbeat must not wait behind a request of many keys
public record RankRoutes(ServedSpaces spaces, Source from, DisaggServices services, long generation,
    HeldRights held, Scheduler timers) {
  /// The caller of the requests.
  ///
  /// @param party to whose share kept requests count
  /// @param address to whose share ranks and replicas count
  /// @param connection of the caller
  /// @param user null if the node asks for none
  public record Source(Object party, Object address, Object connection, @Nullable String user) {
    /// The caller as the owner of ranks: the user, or else the holder of `secret`.
    RankOwner owner(byte @Nullable [] secret) {
      if (user != null) {
        return RankOwner.ofUser(user);
      } else if (secret == null || secret.length < RankOwner.LEAST_SECRET || secret.length > RankOwner.MOST_SECRET) {
        throw WireFormatException.request("secret",
            RankOwner.LEAST_SECRET + " to " + RankOwner.MOST_SECRET + " bytes",
            secret == null ? "absent" : secret.length);
      }
      return RankOwner.ofSecret(secret);
    }

    Registrant registrant(byte @Nullable [] secret) {
      return new Registrant(owner(secret), address, connection);
    }
  }

  /// Ranks that one reply tells.
  static final int MOST_RANKS = 1024;
  /// Requests that a node keeps, and those that it remembers with them.
  private static final int MOST_KEPT = 1 << 20;

  /// Whether this node answers `route`.
  boolean serves(String route) {
    return switch (route) {
      case Routes.CLAIM, Routes.REGISTER, Routes.HEARTBEAT, Routes.INSTANCES, Routes.REPLICA ->
        services.registry() != null;
      case Routes.KEEP, Routes.SIGNAL -> services.kept() != null;
      case Routes.USAGE -> services.gateways() != null;
      default -> false;
    };
  }

  Mono<Payload> answered(Call call) {
    spaces.requireSegments(call);
    if (call.route().equals(Routes.SIGNAL)) {
      return signal(call, served(call, services.kept()));
    } else if (call.route().equals(Routes.KEEP)) {
      return keep(call, served(call, services.kept()));
    } else if (call.route().equals(Routes.USAGE)) {
      return usage(call, served(call, services.gateways()));
    }
    RankRegistry registry = served(call, services.registry());
    return switch (call.route()) {
      case Routes.CLAIM -> claim(call, registry);
      case Routes.REGISTER -> register(call, registry);
      case Routes.HEARTBEAT -> heartbeat(call, registry);
      case Routes.INSTANCES -> instances(call, registry);
      default -> replica(call, registry);
    };
  }

  private static <T> T served(Call call, @Nullable T service) {
    if (service == null) {
      throw new WireFormatException(ErrorCode.UNKNOWN_ROUTE, "route", "one that is served by request/response",
          call.route());
    }
    return service;
  }

  private static Mono<Payload> usage(Call call, GatewayBoard board) {
    GatewayUse use = call.message(ClusterMessages.UsageRequest.class).use();
    return Mono.fromSupplier(() -> call.reply(ClusterMessages.UsageReply.of(board.tell(use))))
        .onErrorMap(IllegalStateException.class, full -> WireFormatException.request("gateway", "one of few", full));
  }

  private Mono<Payload> claim(Call call, RankRegistry registry) {
    DisaggMessages.ClaimRequest request = call.message(DisaggMessages.ClaimRequest.class);
    Registrant by = from.registrant(request.secret());
    return deciding(() -> call.reply(
        new DisaggMessages.ClaimReply(registry.claim(by, request.rankId(), request.leastOrAny()))));
  }

  private Mono<Payload> register(Call call, RankRegistry registry) {
    DisaggMessages.RegisterRequest request = call.message(DisaggMessages.RegisterRequest.class);
    Registrant by = from.registrant(request.secret());
    return deciding(() -> call.reply(DisaggMessages.RegisterReply.of(
        refusing(() -> registry.register(by, request.registration())), registry.options())));
  }

  private Mono<Payload> heartbeat(Call call, RankRegistry registry) {
    DisaggMessages.HeartbeatRequest request = call.message(DisaggMessages.HeartbeatRequest.class);
    RankOwner owner = from.owner(request.secret());
    Incarnation who = request.who().incarnation();
    return deciding(() -> call.reply(new DisaggMessages.HeartbeatReply(
        request.isLeaving() ? registry.leave(owner, who) : registry.heartbeat(owner, who))));
  }

  /// Runs where a wait for the registry's lock keeps no event loop: a registration compares manifests under it.
  private Mono<Payload> deciding(Supplier<Payload> decision) {
    return Mono.fromSupplier(decision).subscribeOn(timers);
  }

  private Mono<Payload> instances(Call call, RankRegistry registry) {
    DisaggMessages.InstancesRequest request = call.message(DisaggMessages.InstancesRequest.class);
    return deciding(() -> call.reply(DisaggMessages.InstancesReply.of(
        registry.instances(request.instance(), request.afterRank(), MOST_RANKS), MOST_RANKS)));
  }

  private Mono<Payload> replica(Call call, RankRegistry registry) {
    DisaggMessages.ReplicaRequest request = call.message(DisaggMessages.ReplicaRequest.class);
    return deciding(() -> {
      Integer told = request.replica();
      if (told != null) {
        refusing(() -> {
          registry.assign(from.address(), request.request(), told);
          return told;
        });
      }
      OptionalInt known = registry.replica(request.request());
      return call.reply(new DisaggMessages.ReplicaReply(known.isPresent() ? known.getAsInt() : null));
    });
  }

  private Mono<Payload> keep(Call call, PrefillConnector kept) {
    DisaggMessages.KeepRequest wanted = call.message(DisaggMessages.KeepRequest.class);
    Messages.Keys keys = wanted.keys();
    Set<RankId> receivers = wanted.ranks(); // is refused before anything is leased
    Mono<RequestAnswer> done = keys == null
        ? Mono.fromSupplier(() -> kept.withdraw(wanted.request()))
        : isOpen(call, wanted, keys, kept)
            ? Mono.just(new RequestAnswer(Outcome.REPEATED, null))
            : leased(call, keys, kept).flatMap(blocks -> open(kept, wanted.request(), receivers, blocks)
                .doOnNext(answer -> watch(call, kept, wanted.request(), blocks)));
    return done.map(answer -> call.reply(DisaggMessages.KeepReply.of(answer, keys != null && answer.isKept())));
  }

  /// Whether the request is kept already: an engine whose answer was lost asks again, and needs no second lease.
  private boolean isOpen(Call call, DisaggMessages.KeepRequest wanted, Messages.Keys keys, PrefillConnector kept) {
    BlockTier tier = spaces.of(call, keys);
    List<BlockKey> named = spaces.keys(keys, tier);
    return kept.isOpen(wanted.request(), wanted.ranks(), blocks -> LeasedBlocks.areOf(named, blocks));
  }

  private Mono<LeasedBlocks> leased(Call call, Messages.Keys keys, PrefillConnector kept) {
    BlockTier tier = spaces.of(call, keys);
    requireRoom(kept.figures(), MOST_KEPT);
    if (kept.isDraining()) {
      return Mono.error(new DrainingException());
    }
    return LeasedBlocks.of(tier, from.party(), spaces.keys(keys, tier));
  }

  /// @throws HoldLimitException if there is no room for another request: one without blocks is bounded by no lease
  static void requireRoom(PrefillConnector.Figures figures, int most) {
    long requests = figures.held() + figures.remembered();
    if (requests >= most) {
      throw new HoldLimitException("kept requests", requests + 1, most);
    }
  }

  private static Mono<RequestAnswer> open(PrefillConnector kept, String request, Set<RankId> receivers,
      LeasedBlocks blocks) {
    if (kept.isDraining()) { // it began while the blocks were leased
      return blocks.release().then(Mono.error(new DrainingException()));
    }
    try {
      RequestAnswer answer =
          receivers.isEmpty() ? kept.open(request, blocks) : kept.open(request, receivers, blocks);
      return answer.outcome() == Outcome.REPEATED ? blocks.release().thenReturn(answer) : Mono.just(answer);
    } catch (IllegalArgumentException e) { // the name was used otherwise
      return blocks.release().then(Mono.error(e));
    }
  }

  /// Withdraws `request` when its caller loses the right to keep it; the connection may have ended by then.
  private void watch(Call call, PrefillConnector kept, String request, LeasedBlocks blocks) {
    blocks.whenReleased(held.hold(call.rights(), lack -> {
      RequestAnswer unused = kept.withdraw(request);
    }));
  }

  private Mono<Payload> signal(Call call, PrefillConnector kept) {
    DisaggMessages.SignalRequest request = call.message(DisaggMessages.SignalRequest.class);
    LongSupplier registered = services.generation();
    long mine = registered == null ? generation : registered.getAsLong();
    if (request.generation() != mine) { // what an earlier start of this node kept is gone
      throw new WireFormatException(ErrorCode.BAD_REQUEST, "generation", "" + mine, request.generation());
    }
    return kept.accept(request.signal()).map(answer -> call.reply(DisaggMessages.SignalReply.of(answer)));
  }

  private static <T> T refusing(Supplier<T> work) {
    try {
      return work.get();
    } catch (RegistrationRefusedException e) {
      ErrorCode code = e.field().equals("version") ? ErrorCode.VERSION_MISMATCH : ErrorCode.BAD_REQUEST;
      throw new WireFormatException(code, e.field(), e.wanted(), e.actual());
    } catch (PlanRefusedException e) {
      throw new WireFormatException(ErrorCode.BAD_REQUEST, e.field(),
          "one that goes with " + e.otherField() + " " + e.otherValue(), e.value());
    }
  }
}
