package io.penstock.wire.cluster.tier;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.Presence;
import io.penstock.tier.TierHolds;
import io.penstock.wire.cluster.Located;
import io.penstock.wire.cluster.Member;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// The read leases, pins and removals of one party over the members of a cluster.
///
/// A lease has the same id at every member that has a part of it, so each process that knows the id reads under it.
/// Each block is leased where it is found first. What a member held that died is not leased any more; a read goes on
/// with members that have the same blocks.
///
/// | Call | Members that are asked |
/// |---|---|
/// | lease, pin, remove keys | those that have the keys, side by side |
/// | release, read | those that have a part of the lease; all, if another process asked for it |
/// | remove by a filter | all, side by side |
///
/// A member bounds leases and pins for itself. One that may pin no more signals [HoldLimitException] only if a block
/// has no pinned copy then; pins that others have set stay. Keys that are being written are not found.
final class ClusterHolds extends TierHolds {
  private final Gate gate;
  private final CacheSpace space;
  private final Nodes nodes;
  private final Nearest nearest;
  private final MemberHolds holds;
  private final LeaseReads reads;
  private final LongSupplier ids;

  /// Lets calls to an open tier pass.
  interface Gate {
    <T> Mono<T> open(Mono<T> call);
  }

  /// @param timers of lives that are begun again while a read goes on
  /// @param ids draws names of leases, which must be hard to guess
  ClusterHolds(Gate gate, CacheSpace space, Nodes nodes, Nearest nearest, Object party, Scheduler timers,
      LongSupplier ids) {
    this.gate = gate;
    this.space = space;
    this.nodes = nodes;
    this.nearest = nearest;
    this.holds = new MemberHolds(nodes, party);
    this.reads = new LeaseReads(space.layout(), holds, nodes, nearest, timers);
    this.ids = ids;
  }

  private List<BlockKey> distinct(List<BlockKey> keys) {
    return BlockKey.distinct(keys, space.id());
  }

  @Override
  public Mono<ReadLease> lease(List<BlockKey> keys, LeaseTerms terms) {
    List<BlockKey> all = distinct(keys);
    return gate.open(holds.opened(nodes.locate(all)).flatMap(located -> {
      Leasing leasing = new Leasing(terms.id() == 0 ? terms.withId(drawn()) : terms, all.size());
      return (terms.prefixOnly() ? prefix(all, located) : Mono.just(all.size()))
          .flatMap(most -> leasing.at(all.subList(0, most), located))
          .onErrorResume(failure -> undone(leasing, terms.id() != 0).then(Mono.error(failure)))
          .doOnCancel(() -> undone(leasing, terms.id() != 0).subscribe());
    }));
  }

  private Mono<Integer> prefix(List<BlockKey> all, Located located) {
    int most = ClusterTier.prefix(located);
    return most == 0
        ? Mono.just(0)
        : Asked.of(nodes, nearest, all.subList(0, most), ClusterTier.first(located, most)).present(BlockTier::contains)
            .map(Presence::prefix);
  }

  private long drawn() {
    long id = ids.getAsLong() & Long.MAX_VALUE;
    while (id == 0) {
      id = ids.getAsLong() & Long.MAX_VALUE;
    }
    return id;
  }

  /// Ends what a lease that failed has leased, unless it lived before; also at members that have not answered yet.
  private Mono<Void> undone(Leasing leasing, boolean lived) {
    return Mono.defer(() -> {
      if (lived) {
        return Mono.empty();
      }
      leasing.addressed.forEach(member -> holds.leased(leasing.terms.id(), member));
      return release(leasing.terms.id()).onErrorComplete().then();
    });
  }

  /// A lease while its members are asked.
  private final class Leasing {
    private final LeaseTerms terms;
    private final int size;
    private final BitSet found = new BitSet();
    private final BitSet leased = new BitSet();
    private final Set<Member> addressed = ConcurrentHashMap.newKeySet();
    private @Nullable Duration life;

    Leasing(LeaseTerms terms, int size) {
      this.terms = terms;
      this.size = size;
    }

    /// @param keys the first of the request
    Mono<ReadLease> at(List<BlockKey> keys, Located located) {
      Asked asked = Asked.of(nodes, nearest, keys, ClusterTier.first(located, keys.size()));
      return asked.rounds(asked.remaining()::groups, run -> at(asked, run))
          .onErrorMap(Refused.class, refused -> refused.why).then(Mono.fromSupplier(this::answer));
    }

    private Mono<Void> at(Asked asked, KeyRun run) {
      Member member = asked.remaining().located().members().get(run.member());
      addressed.add(member);
      return holds.at(member).flatMap(at -> at.lease(run.keys(asked.keys()), terms.withPrefixOnly(false))
          .flatMap(lease -> isOther(lease) ? at.release(lease.id()).thenReturn(none(lease)) : Mono.just(lease)))
          .onErrorMap(HoldLimitException.class, Refused::new)
          .doOnNext(lease -> asked.remaining().found(take(run, member, lease))).then();
    }

    /// A member of an earlier release gives a lease of its own id.
    private boolean isOther(ReadLease lease) {
      return lease.id() != 0 && lease.id() != terms.id();
    }

    private static ReadLease none(ReadLease lease) {
      return new ReadLease(0, lease.found(), Presence.of(lease.found().size(), new BitSet()), lease.life());
    }

    private BitSet take(KeyRun run, Member member, ReadLease lease) {
      BitSet here = run.in(lease.found());
      if (lease.id() != 0) {
        holds.leased(lease.id(), member);
      }
      synchronized (this) {
        found.or(here);
        leased.or(run.in(lease.leased()));
        if (lease.id() != 0) {
          life = life == null || lease.life().compareTo(life) < 0 ? lease.life() : life;
        }
      }
      return here;
    }

    private synchronized ReadLease answer() {
      if (terms.prefixOnly()) {
        int prefix = found.nextClearBit(0);
        found.clear(prefix, size);
        leased.clear(prefix, size);
      }
      return new ReadLease(life == null ? 0 : terms.id(), Presence.of(size, found), Presence.of(size, leased),
          life == null ? terms.life() : life);
    }
  }

  /// A member refuses, and no other is to be asked instead.
  private static final class Refused extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final HoldLimitException why;

    Refused(HoldLimitException why) {
      super(why);
      this.why = why;
    }
  }

  /// Members that cannot be reached are passed over: their parts end by their time.
  @Override
  public Mono<Boolean> release(long id) {
    return gate.open(holds.candidates(id).flatMapMany(Flux::fromIterable)
        .flatMap(member -> holds.at(member).flatMap(at -> at.release(id))
            .onErrorResume(Asked::isPassedOver, gone -> Mono.just(false)), Asked.SIDE_BY_SIDE, 1)
        .reduce(false, Boolean::logicalOr).doOnNext(released -> holds.forget(id)));
  }

  @Override
  public Mono<Lease> read(long id, List<BlockKey> keys, BlockScope scope) {
    return gate.open(reads.read(id, distinct(keys), scope));
  }

  /// Pins, or ends the pins of, every copy that can be reached. A block is [KeyOutcome#OK] with one pinned copy.
  @Override
  public Mono<List<KeyOutcome>> pin(List<BlockKey> keys, Pin pin) {
    List<BlockKey> all = distinct(keys);
    return Mono.defer(() -> {
      BitSet refused = new BitSet();
      List<HoldLimitException> why = Collections.synchronizedList(new ArrayList<>());
      return outcomes(all, (at, run) -> at.pin(run.keys(all), pin)
          .onErrorResume(HoldLimitException.class, limit -> {
            why.add(limit);
            synchronized (refused) {
              IntStream.of(run.positions()).forEach(refused::set);
            }
            return Mono.empty();
          }).onErrorResume(Asked::isPassedOver, gone -> Mono.empty()),
          List.of(KeyOutcome.OK, KeyOutcome.UNCHANGED, KeyOutcome.NOT_READY, KeyOutcome.LEASED))
          .<List<KeyOutcome>>handle((outcomes, sink) -> {
            synchronized (refused) {
              if (refused.stream().anyMatch(i -> outcomes.get(i) != KeyOutcome.OK)) {
                sink.error(why.getFirst());
              } else {
                sink.next(outcomes);
              }
            }
          });
    });
  }

  /// Removes every copy. A block of which one copy stays is [KeyOutcome#LEASED] or [KeyOutcome#NOT_READY]. Signals a
  /// failure, and has removed what it could, if a member that has one of the blocks cannot be reached.
  @Override
  public Mono<List<KeyOutcome>> remove(List<BlockKey> keys, boolean force) {
    List<BlockKey> all = distinct(keys);
    return outcomes(all, (at, run) -> at.remove(run.keys(all), force),
        List.of(KeyOutcome.LEASED, KeyOutcome.NOT_READY, KeyOutcome.OK, KeyOutcome.UNCHANGED));
  }

  /// Asks each member about its keys.
  ///
  /// @param order of several outcomes of one key the first in this list is the answer
  private Mono<List<KeyOutcome>> outcomes(List<BlockKey> all,
      BiFunction<TierHolds, KeyRun, Mono<List<KeyOutcome>>> question, List<KeyOutcome> order) {
    return gate.open(holds.opened(nodes.locate(all)).flatMap(located -> {
      List<Set<KeyOutcome>> each = new ArrayList<>();
      all.forEach(key -> each.add(EnumSet.noneOf(KeyOutcome.class)));
      return Flux.range(0, located.members().size()).map(member -> held(located, member))
          .filter(run -> run.positions().length > 0)
          .flatMapDelayError(run -> holds.at(located.members().get(run.member()))
              .flatMap(at -> question.apply(at, run)).doOnNext(outcomes -> {
                synchronized (each) {
                  for (int i = 0; i < outcomes.size(); i++) {
                    each.get(run.positions()[i]).add(outcomes.get(i));
                  }
                }
              }), Asked.SIDE_BY_SIDE, 1)
          .then(Mono.fromSupplier(() -> {
            synchronized (each) {
              return each.stream().map(one -> order.stream().filter(one::contains).findFirst()
                  .orElse(KeyOutcome.NOT_FOUND)).toList();
            }
          }));
    }));
  }

  /// The keys that a member has.
  static KeyRun held(Located located, int member) {
    BitSet held = new BitSet();
    for (int i = 0; i < located.size(); i++) {
      held.set(i, located.holders(i).stream().anyMatch(holder -> holder.member() == member));
    }
    return KeyRun.of(member, held);
  }

  /// Removes at all members side by side. Signals a failure at the end if a member could not be reached.
  @Override
  public Flux<RemovalCount> remove(KeyFilter which, boolean force) {
    return gate.open(holds.members()).flatMapMany(Flux::fromIterable)
        .flatMapDelayError(member -> holds.at(member).flatMapMany(at -> at.remove(which, force)),
            Asked.SIDE_BY_SIDE, 1);
  }

  @Override
  protected void free() {
    holds.close();
  }
}
