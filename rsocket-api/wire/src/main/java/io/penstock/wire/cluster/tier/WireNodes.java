package io.penstock.wire.cluster.tier;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.tier.BlockTier;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvPeerOptions;
import io.penstock.wire.client.Lane;
import io.penstock.wire.client.RemoteTier;
import io.penstock.wire.cluster.ClusterView;
import io.penstock.wire.cluster.Located;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.transport.Endpoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// The nodes of a cluster over one connection each, made when it is needed. Any of them is asked for what the cluster
/// knows: the one that answered last, else other members, else the seeds.
final class WireNodes implements Nodes {
  /// Age from which the list of members is asked for again.
  private static final Duration FRESH = Duration.ofMillis(500);
  /// Connections end with their members.
  private static final KvPeerOptions CONNECTIONS =
      KvPeerOptions.defaults().withIdleAfter(Duration.ofDays(1)).withBackOff(Duration.ofMillis(50),
          Duration.ofSeconds(2));

  private final Function<Endpoint, Mono<KvClient>> connecting;
  private final CacheSpace space;
  private final Scheduler timers;
  private final RandomGenerator random;
  private final List<Lane<Reached>> seeds;
  @GuardedBy("this") private final Map<ClusterEvents.Start, Lane<Reached>> lanes = new HashMap<>();
  @GuardedBy("this") private @Nullable Lane<Reached> speaker;
  @GuardedBy("this") private @Nullable ClusterView view;
  @GuardedBy("this") private long askedMillis;
  @GuardedBy("this") private boolean closed;

  private record Reached(KvClient client, RemoteTier tier) {}

  /// @param seeds any nodes of the cluster
  /// @param connecting cold; connects to a node
  /// @param timers for pauses; never used for work
  WireNodes(List<Endpoint> seeds, Function<Endpoint, Mono<KvClient>> connecting, CacheSpace space, Scheduler timers,
      RandomGenerator random) {
    this.connecting = connecting;
    this.space = space;
    this.timers = timers;
    this.random = random;
    this.seeds = seeds.stream().map(seed -> lane(connecting.apply(seed))).toList();
  }

  private Lane<Reached> lane(Mono<KvClient> open) {
    return new Lane<>(new Lane.Link<>(open.map(client -> new Reached(client, new RemoteTier(client, space))),
        reached -> reached.client().onClose(), reached -> reached.client().close()), CONNECTIONS, timers, random);
  }

  @Override
  public Mono<Located> locate(List<BlockKey> keys) {
    return anyone(client -> client.locate(keys));
  }

  @Override
  public Mono<List<Member>> members() {
    return view().map(ClusterView::members);
  }

  /// The members, and the name of the cluster.
  Mono<ClusterView> view() {
    return Mono.defer(() -> {
      synchronized (this) {
        ClusterView known = view;
        if (known != null && timers.now(TimeUnit.MILLISECONDS) - askedMillis < FRESH.toMillis()) {
          return Mono.just(known);
        }
      }
      return anyone(KvClient::members).doOnNext(this::seen);
    });
  }

  private void seen(ClusterView now) {
    List<Lane<Reached>> left = new ArrayList<>();
    synchronized (this) {
      view = now;
      askedMillis = timers.now(TimeUnit.MILLISECONDS);
      Set<ClusterEvents.Start> there = new HashSet<>();
      now.members().forEach(member -> there.add(ClusterEvents.start(member)));
      lanes.entrySet().removeIf(entry -> !there.contains(entry.getKey()) && left.add(entry.getValue()));
    }
    left.forEach(lane -> lane.close().subscribe(nothing -> {}, failed -> {}));
  }

  @Override
  public Mono<BlockTier> node(Member member) {
    return Mono.defer(() -> client(lane(member))).map(Reached::tier);
  }

  private static Mono<Reached> client(Lane<Reached> lane) {
    return lane.with(Mono::just).next();
  }

  private synchronized Lane<Reached> lane(Member member) {
    if (closed) {
      throw new IllegalStateException("nodes must be open (were closed)");
    }
    return lanes.computeIfAbsent(ClusterEvents.start(member), start -> lane(connected(member)));
  }

  /// A connection to this start of a member, at the first of its endpoints that answers.
  private Mono<KvClient> connected(Member member) {
    return Flux.fromIterable(member.endpoints()).concatMapDelayError(place -> connecting.apply(Endpoint.parse(place)))
        .next().flatMap(client -> client.generation() == member.generation()
            ? Mono.just(client)
            : client.close().then(Mono.error(new MemberRestartedException(member, client.generation()))));
  }

  /// Asks one node after the other until one answers.
  private <T> Mono<T> anyone(Function<KvClient, Mono<T>> question) {
    return Mono.defer(() -> {
      Mono<T> asked = Mono.error(() -> new UnreachableException(seeds.size()));
      for (Lane<Reached> lane : inTurn().reversed()) {
        Mono<T> others = asked;
        asked = client(lane).flatMap(reached -> question.apply(reached.client())).doOnNext(answer -> speaks(lane))
            .onErrorResume(Asked::isPassedOver, gone -> others);
      }
      return asked;
    });
  }

  private synchronized void speaks(Lane<Reached> lane) {
    if (!closed) {
      speaker = lane;
    }
  }

  private synchronized List<Lane<Reached>> inTurn() {
    List<Lane<Reached>> order = new ArrayList<>();
    ClusterView known = view;
    if (speaker != null) {
      order.add(speaker);
    }
    if (known != null && !closed) {
      known.members().forEach(member -> order.add(lane(member)));
    }
    order.addAll(seeds);
    return order.stream().distinct().toList();
  }

  @Override
  public Mono<Void> close() {
    return Mono.defer(() -> {
      List<Lane<Reached>> all = new ArrayList<>(seeds);
      synchronized (this) {
        closed = true;
        all.addAll(lanes.values());
        lanes.clear();
      }
      return Flux.fromIterable(all).flatMap(Lane::close).then();
    });
  }
}
