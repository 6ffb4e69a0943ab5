package io.penstock.wire.cluster.tier;

import io.penstock.TransientKvException;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.Owned;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierHolds.LeaseExpiredException;
import io.penstock.wire.cluster.Located;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.tier.ClusterEvents.Start;
import io.penstock.wire.cluster.tier.MemberLeases.Opening;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// Reads under a lease that members have parts of. While a read goes on, each part is begun again every second, also
/// at members that the read does not ask for blocks, or no longer.
///
/// @param timers of that second
record LeaseReads(BlockLayout layout, MemberHolds holds, Nodes nodes, Nearest nearest, Scheduler timers) {
  private static final Duration AGAIN = Duration.ofSeconds(1);

  /// A lease, and who has a part of it.
  private record Held(long id, List<Member> members, Set<Start> starts) {
    static Held of(long id, List<Member> members) {
      Set<Start> starts = new HashSet<>();
      members.forEach(member -> starts.add(ClusterEvents.start(member)));
      return new Held(id, members, starts);
    }

    boolean isAt(Member member) {
      return starts.contains(ClusterEvents.start(member));
    }
  }

  /// What a member says of a lease.
  ///
  /// @param failure why it said nothing
  private record Said(Member member, boolean has, List<Throwable> failure) {}

  /// Decides on `keys` as a read under the lease `id`.
  ///
  /// @param scope owns the lease
  Mono<Lease> read(long id, List<BlockKey> keys, BlockScope scope) {
    return held(id).flatMap(held -> nodes.locate(keys).flatMap(located -> {
      Asked asked = new Asked(nodes, keys, new Remaining(located, ranks(held, located)));
      return MemberLeases.decide(asked, new Under(held, located), layout, scope);
    }));
  }

  /// Who has a part of the lease `id`, which it begins again. Signals [LeaseExpiredException] if no member has.
  private Mono<Held> held(long id) {
    return holds.candidates(id).flatMapMany(Flux::fromIterable)
        .flatMap(member -> said(id, member), Asked.SIDE_BY_SIDE, 1).collectList().flatMap(all -> {
          List<Member> members = all.stream().filter(Said::has).map(Said::member).toList();
          List<Throwable> failures = all.stream().flatMap(said -> said.failure().stream()).toList();
          return members.isEmpty()
              ? Mono.error(failures.isEmpty() ? new LeaseExpiredException(id) : failures.getFirst())
              : Mono.just(Held.of(id, members));
        });
  }

  /// A read of no block begins the life of the lease again.
  private Mono<Said> said(long id, Member member) {
    return Mono.using(BlockScope::new,
        scope -> holds.at(member).flatMap(at -> at.read(id, List.of(), scope)).hasElement(), BlockScope::close)
        .map(has -> new Said(member, has, List.of()))
        .onErrorResume(LeaseExpiredException.class, none -> Mono.just(new Said(member, false, List.of())))
        .onErrorResume(Asked::isPassedOver, gone -> Mono.just(new Said(member, false, List.of(gone))));
  }

  /// Members that have a part come first.
  private int[] ranks(Held held, Located located) {
    int[] ranks = nearest.ranks(located.members());
    return IntStream.range(0, ranks.length)
        .map(i -> held.isAt(located.members().get(i)) ? ranks[i] : ranks[i] + ranks.length).toArray();
  }

  /// Reads under the lease where a part of it is, and as without it elsewhere.
  private final class Under implements Opening {
    private final Held held;
    private final Located located;

    Under(Held held, Located located) {
      this.held = held;
      this.located = located;
    }

    @Override
    public Mono<Lease> at(int number, BlockTier node, List<BlockKey> keys, BlockScope scope) {
      Member member = located.members().get(number);
      return held.isAt(member)
          ? answered(member, holds.at(member, node).read(held.id, keys, scope))
          : answered(member, node.lease(keys, OnMiss.SKIP, scope));
    }

    private static Mono<Lease> answered(Member member, Mono<Lease> lease) {
      return lease.switchIfEmpty(Mono.error(
          () -> new TransientKvException("node " + member.name() + " must answer a read (did not)")));
    }

    @Override
    public void begun(BlockScope scope) {
      scope.adopt(new Again(held));
    }
  }

  /// Begins the parts of a lease again, until the read has ended and then once more.
  private final class Again extends Owned {
    private final Held held;
    private final Disposable ticking;

    Again(Held held) {
      this.held = held;
      this.ticking = Flux.interval(AGAIN, timers).onBackpressureDrop().concatMap(tick -> again(), 1)
          .subscribe(nothing -> {}, failed -> {}); // the timers have ended
    }

    private Mono<Void> again() {
      return Flux.fromIterable(held.members)
          .flatMap(member -> said(held.id, member).onErrorComplete(), Asked.SIDE_BY_SIDE, 1).then();
    }

    @Override
    protected void free() {
      ticking.dispose();
      again().subscribe(nothing -> {}, failed -> {}); // what could not be begun again ends by its time
    }
  }
}
