package io.penstock.wire.server.route;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionState;
import io.penstock.block.session.SessionUse;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.TierHolds.LeaseTerms;
import io.penstock.tier.TierHolds.ReadLease;
import io.penstock.wire.protocol.Handshake;
import io.penstock.wire.protocol.HoldMessages;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.SessionMessages;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.security.Role;
import io.penstock.wire.server.call.Call;
import io.penstock.wire.server.call.DrainGate;
import io.penstock.wire.server.space.ConnectionHolds;
import io.penstock.wire.server.space.ServedSpaces;
import io.rsocket.Payload;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// The routes `match` and `exists` on one connection of a node.
///
/// @param waits how long a `match` may wait for a block that is being written
public record LookUpRoutes(ServedSpaces spaces, ConnectionHolds holds, DrainGate gate, GetWaits waits) {
  /// Time until the first look again at keys that are being written. Each further time is twice as long, so a request
  /// that waits long costs few looks.
  private static final long LOOK_AGAIN_MILLIS = 2;
  private static final long MOST_MILLIS = 64;
  /// Times that are shorter than the longest.
  private static final long DOUBLINGS = 5;

  /// What answers `match` at once; null if it takes longer.
  @Nullable Callable<Payload> matchAtOnce(Call call) {
    Messages.KeysRequest request = matched(call);
    if (request.lease() != null || request.session() != null || request.pendingMillis() != null) {
      return null;
    }
    BlockTier tier = spaces.of(call, request.keys());
    return atOnce(tier.match(spaces.keys(request.keys(), tier)),
        prefix -> call.reply(new Messages.MatchReply(prefix)));
  }

  private static Messages.KeysRequest matched(Call call) {
    Messages.KeysRequest request = call.message(Messages.KeysRequest.class);
    if (request.durability() != null) {
      throw WireFormatException.request("durability", "absent in match", request.durability());
    }
    return request;
  }

  /// What answers `exists` at once; null if it takes longer.
  @Nullable Callable<Payload> existsAtOnce(Call call) {
    Messages.KeysRequest request = call.message(Messages.KeysRequest.class);
    if (request.lease() != null) {
      return null;
    }
    BlockTier tier = spaces.of(call, request.keys());
    List<BlockKey> keys = spaces.keys(request.keys(), tier);
    Durability least = request.least();
    return least == null
        ? atOnce(tier.contains(keys), present -> call.reply(Messages.Bits.of(present)))
        : atOnce(tier.contains(keys, least), present -> call.reply(Messages.ExistsReply.of(present, least)));
  }

  /// The call behind a `Mono` that computes its value by one; null for another `Mono`.
  @SuppressWarnings("unchecked") // a callable Mono calls for what it emits
  private static <T> @Nullable Callable<Payload> atOnce(Mono<T> answer, Function<T, Payload> reply) {
    return answer instanceof Callable<?> ready ? () -> reply.apply(((Callable<T>) ready).call()) : null;
  }

  Mono<Payload> match(Call call) {
    Messages.KeysRequest request = matched(call);
    BlockTier tier = spaces.of(call, request.keys());
    List<BlockKey> keys = spaces.keys(request.keys(), tier);
    HoldMessages.LeaseWanted wanted = request.lease();
    SessionUse session = SessionMessages.Named.use(request.session());
    Mono<Payload> answer = matched(call, request, tier, keys, wanted);
    return session == null ? answer : began(call, tier, session).then(answer);
  }

  /// The session is active from now on. A caller who may only read has no effect on what stays.
  private Mono<Boolean> began(Call call, BlockTier tier, SessionUse session) {
    spaces.require(call, Role.WRITER, call.route() + " with a session", tier);
    return tier.session(session, SessionState.ACTIVE);
  }

  private Mono<Payload> matched(Call call, Messages.KeysRequest request, BlockTier tier, List<BlockKey> keys,
      HoldMessages.@Nullable LeaseWanted wanted) {
    Long pending = request.pendingMillis();
    if (pending != null) {
      return promised(tier, keys, Duration.ofMillis(Math.min(pending, waits.await().toMillis()))).map(call::reply);
    }
    return wanted == null
        ? tier.match(keys).map(prefix -> call.reply(new Messages.MatchReply(prefix)))
        : leased(call, tier, keys, wanted.terms(true)).map(lease -> call
            .reply(new Messages.MatchReply(lease.found().prefix(), HoldMessages.LeaseGiven.of(lease))));
  }

  /// The prefix, and the keys behind it that are being written: at once if there are none, or else when they came or
  /// the time is over.
  private Mono<Messages.MatchReply> promised(BlockTier tier, List<BlockKey> keys, Duration patience) {
    Mono<Messages.MatchReply> now = tier.promised(keys).flatMap(promised -> tier.match(keys)
        .map(prefix -> new Messages.MatchReply(prefix, null, Math.max(0, promised - prefix))));
    if (patience.isZero()) {
      return now;
    }
    Scheduler timers = waits.stall().timers();
    long end = timers.now(TimeUnit.NANOSECONDS) + patience.toNanos();
    return now.repeatWhen(answers -> answers.index().concatMap(answer -> Mono.delay(
        pause(answer.getT1(), end - timers.now(TimeUnit.NANOSECONDS)), timers), 1))
        .takeUntil(reply -> isWhole(reply) || timers.now(TimeUnit.NANOSECONDS) >= end).last();
  }

  /// @param looks before this pause
  /// @param leftNanos until the time is over
  private static Duration pause(long looks, long leftNanos) {
    long millis = looks < DOUBLINGS ? LOOK_AGAIN_MILLIS << looks : MOST_MILLIS;
    return Duration.ofNanos(Math.clamp(leftNanos, 0, millis * 1_000_000));
  }

  private static boolean isWhole(Messages.MatchReply reply) {
    return reply.pending() == null || reply.pending() == 0;
  }

  Mono<Payload> session(Call call) {
    SessionMessages.SessionRequest request = call.message(SessionMessages.SessionRequest.class);
    if (request.isEverywhere()) {
      return Flux.fromIterable(spaces.unsalted(call))
          .concatMap(tier -> tier.session(request.session().use(), request.sessionState())).filter(known -> known)
          .count().map(known -> call
              .reply(new SessionMessages.SessionReply(known > 0, Math.toIntExact(known))));
    }
    BlockTier tier = spaces.of(call, "space", request.space());
    return tier.session(request.session().use(), request.sessionState())
        .map(known -> call.reply(new SessionMessages.SessionReply(known)));
  }

  /// The blocks of a session in one space, or the spaces that know it.
  Mono<Payload> blocks(Call call) {
    SessionMessages.BlocksRequest request = call.message(SessionMessages.BlocksRequest.class);
    SessionId session = request.session();
    byte[] space = request.space();
    if (space == null) {
      return Flux.fromIterable(spaces.unsalted(call))
          .concatMap(tier -> tier.sessionKeys(session, null, 1).map(page -> Handshake.Space.of(tier.info().space())))
          .collectList().map(known -> call.reply(SessionMessages.BlocksReply.of(known)));
    }
    BlockTier tier = spaces.of(call, "space", space);
    byte[] after = request.after();
    Integer asked = request.most();
    int most = asked == null ? spaces.limits().maxKeys() : Math.min(asked, spaces.limits().maxKeys());
    return tier.sessionKeys(session,
        after == null ? null : tier.info().space().key(BlockHash.read(ByteBuffer.wrap(after))), most)
        .map(SessionMessages.BlocksReply::of).defaultIfEmpty(SessionMessages.BlocksReply.unknown()).map(call::reply);
  }

  Mono<Payload> exists(Call call) {
    Messages.KeysRequest request = call.message(Messages.KeysRequest.class);
    BlockTier tier = spaces.of(call, request.keys());
    List<BlockKey> keys = spaces.keys(request.keys(), tier);
    HoldMessages.LeaseWanted wanted = request.lease();
    Durability least = request.least();
    if (least != null) {
      return tier.contains(keys, least).map(present -> call.reply(Messages.ExistsReply.of(present, least)));
    }
    return wanted == null
        ? tier.contains(keys).map(present -> call.reply(Messages.Bits.of(present)))
        : leased(call, tier, keys, wanted.terms(false)).map(lease -> call
            .reply(Messages.ExistsReply.of(lease.found(), HoldMessages.LeaseGiven.of(lease))));
  }

  private Mono<ReadLease> leased(Call call, BlockTier tier, List<BlockKey> keys, LeaseTerms terms) {
    return gate.working(() -> holds.lease(tier, keys, terms)).doOnNext(lease -> {
      if (spaces.lacks(call.route(), tier)) { // the right was lost meanwhile
        holds.endWhere(tier::equals);
      }
    });
  }
}
