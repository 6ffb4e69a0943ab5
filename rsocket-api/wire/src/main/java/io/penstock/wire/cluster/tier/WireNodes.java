package io.penstock.wire.cluster.tier;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.BlockKey;
import io.penstock.tier.BlockTier;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.Lane;
import io.penstock.wire.cluster.ClusterView;
import io.penstock.wire.cluster.Located;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.NotJoinedException;
import io.penstock.wire.cluster.tier.Peers.Reached;
import io.penstock.wire.transport.Endpoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// The nodes of a cluster as a client reaches them. Any of them is asked for what the cluster knows: the one that
/// answered last, else other members, else the seeds.
final class WireNodes implements Nodes {
  /// Least age from which the list of members is asked for again.
  private static final Duration FRESH = Duration.ofMillis(500);
  /// What each member adds to that: an answer of a thousand members is some 150 KiB.
  private static final Duration FRESH_A_MEMBER = Duration.ofMillis(5);

  private final Peers peers;
  private final List<Lane<Reached>> seeds;
  private final List<Endpoint> places;
  @GuardedBy("this") private @Nullable Lane<Reached> speaker;
  @GuardedBy("this") private @Nullable ClusterView view;
  @GuardedBy("this") private long askedMillis;

  /// @param seeds any nodes of the cluster
  WireNodes(List<Endpoint> seeds, Peers peers) {
    this.peers = peers;
    this.seeds = seeds.stream().map(peers::lane).toList();
    this.places = List.copyOf(seeds);
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
      ClusterView known = fresh();
      return known != null ? Mono.just(known) : anyone(WireNodes::members).doOnNext(this::seen);
    });
  }

  /// What a node knows. One that knows no member, not even itself, is of an earlier release, and in no cluster now.
  private static Mono<ClusterView> members(KvClient client) {
    return client.members().filter(view -> !view.members().isEmpty())
        .switchIfEmpty(Mono.error(NotJoinedException::new));
  }

  private synchronized @Nullable ClusterView fresh() {
    ClusterView known = view;
    return known != null
        && now() - askedMillis < FRESH.plus(FRESH_A_MEMBER.multipliedBy(known.members().size())).toMillis()
            ? known
            : null;
  }

  private long now() {
    return peers.timers().now(TimeUnit.MILLISECONDS);
  }

  private void seen(ClusterView now) {
    synchronized (this) {
      view = now;
      askedMillis = now();
    }
    peers.keep(now.members());
  }

  @Override
  public Mono<BlockTier> node(Member member) {
    return peers.node(member);
  }

  /// Asks the node that answered last; if it is away, one node after the other until one answers.
  private <T> Mono<T> anyone(Function<KvClient, Mono<T>> question) {
    return Mono.defer(() -> {
      Lane<Reached> last = speaker();
      return last == null
          ? anyOf(inTurn(), question)
          : asked(last, question).onErrorResume(Asked::isPassedOver, gone -> {
            forget(last);
            return anyOf(inTurn(), question);
          });
    });
  }

  private <T> Mono<T> anyOf(List<Lane<Reached>> lanes, Function<KvClient, Mono<T>> question) {
    Mono<T> asked = Mono.error(() -> new UnreachableException(places, null));
    for (Lane<Reached> lane : lanes.reversed()) {
      Mono<T> others = asked;
      asked = asked(lane, question).onErrorResume(Asked::isPassedOver, gone -> others
          .onErrorMap(UnreachableException.class, none -> new UnreachableException(places, gone)));
    }
    return asked;
  }

  private <T> Mono<T> asked(Lane<Reached> lane, Function<KvClient, Mono<T>> question) {
    return Peers.reached(lane).flatMap(reached -> question.apply(reached.client())).doOnNext(answer -> speaks(lane));
  }

  private synchronized @Nullable Lane<Reached> speaker() {
    return speaker;
  }

  private synchronized void speaks(Lane<Reached> lane) {
    speaker = lane;
  }

  @SuppressWarnings("ReferenceEquality") // this very lane
  private synchronized void forget(Lane<Reached> lane) {
    speaker = speaker == lane ? null : speaker;
  }

  private synchronized List<Lane<Reached>> inTurn() {
    List<Lane<Reached>> order = new ArrayList<>();
    if (view != null) {
      view.members().forEach(member -> order.add(peers.lane(member)));
    }
    order.addAll(seeds);
    return order.stream().distinct().toList();
  }

  @Override
  public Mono<Void> close() {
    return Flux.fromIterable(seeds).flatMap(Lane::close).then(peers.close());
  }
}
