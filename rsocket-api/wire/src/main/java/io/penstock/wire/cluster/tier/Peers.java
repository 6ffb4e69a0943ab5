package io.penstock.wire.cluster.tier;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.TransientKvException;
import io.penstock.block.CacheSpace;
import io.penstock.tier.BlockTier;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvPeerOptions;
import io.penstock.wire.client.Lane;
import io.penstock.wire.client.RemoteTier;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.transport.Endpoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// One connection to each member of a cluster, made when it is needed, and ended when the member has left.
final class Peers {
  private static final KvPeerOptions CONNECTIONS = KvPeerOptions.defaults().withIdleAfter(Duration.ofDays(1))
      .withBackOff(Duration.ofMillis(50), Duration.ofSeconds(2));

  private final Function<Endpoint, Mono<KvClient>> connecting;
  private final CacheSpace space;
  private final Scheduler timers;
  private final RandomGenerator random;
  @GuardedBy("this") private final Map<ClusterEvents.Start, Lane<Reached>> lanes = new HashMap<>();
  @GuardedBy("this") private boolean closed;

  /// A node behind a connection.
  record Reached(KvClient client, RemoteTier tier) {}

  /// @param connecting cold; connects to a node
  /// @param timers for pauses; never used for work
  Peers(Function<Endpoint, Mono<KvClient>> connecting, CacheSpace space, Scheduler timers, RandomGenerator random) {
    this.connecting = connecting;
    this.space = space;
    this.timers = timers;
    this.random = random;
  }

  Scheduler timers() {
    return timers;
  }

  /// A connection to whichever node is at `place`.
  Lane<Reached> lane(Endpoint place) {
    return lane(connecting.apply(place));
  }

  private Lane<Reached> lane(Mono<KvClient> open) {
    Mono<Reached> reached = open.switchIfEmpty(Mono.error(Peers::none))
        .map(client -> new Reached(client, new RemoteTier(client, space)));
    return new Lane<>(new Lane.Link<>(reached,
        connection -> connection.client().onClose(), connection -> connection.client().close()), CONNECTIONS, timers,
        random);
  }

  /// The connection to this start of a member.
  synchronized Lane<Reached> lane(Member member) {
    if (closed) {
      throw new IllegalStateException("connections to members must be open (were closed)");
    }
    return lanes.computeIfAbsent(ClusterEvents.start(member), start -> lane(connected(member)));
  }

  /// At the first endpoint that answers.
  private Mono<KvClient> connected(Member member) {
    return Flux.fromIterable(member.endpoints()).concatMapDelayError(place -> connecting.apply(Endpoint.parse(place)))
        .next().flatMap(client -> client.generation() == member.generation()
            ? Mono.just(client)
            : client.close().then(Mono.error(new MemberRestartedException(member, client.generation()))));
  }

  Mono<BlockTier> node(Member member) {
    return Mono.defer(() -> reached(lane(member))).map(Reached::tier);
  }

  static Mono<Reached> reached(Lane<Reached> lane) {
    return lane.with(Mono::just).next().switchIfEmpty(Mono.error(Peers::none));
  }

  /// A member is never left out without a word.
  private static TransientKvException none() {
    return new TransientKvException("a member must give a connection (gave none)");
  }

  /// Ends connections to others than `members`.
  void keep(List<Member> members) {
    List<Lane<Reached>> left = new ArrayList<>();
    Set<ClusterEvents.Start> there = new HashSet<>();
    members.forEach(member -> there.add(ClusterEvents.start(member)));
    synchronized (this) {
      lanes.entrySet().removeIf(entry -> !there.contains(entry.getKey()) && left.add(entry.getValue()));
    }
    left.forEach(lane -> lane.close().subscribe(nothing -> {}, failed -> {}));
  }

  Mono<Void> close() {
    return Mono.defer(() -> {
      List<Lane<Reached>> all;
      synchronized (this) {
        closed = true;
        all = List.copyOf(lanes.values());
        lanes.clear();
      }
      return Flux.fromIterable(all).flatMap(Lane::close).then();
    });
  }
}
