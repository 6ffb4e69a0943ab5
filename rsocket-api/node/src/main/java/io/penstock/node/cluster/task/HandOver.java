package io.penstock.node.cluster.task;

import io.penstock.TransientKvException;
import io.penstock.block.BlockKey;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierClosedException;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierHolds.KeyOutcome;
import io.penstock.tier.TierHolds.LeaseTerms;
import io.penstock.tier.TierHolds.Pin;
import io.penstock.tier.TierHolds.ReadLease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// Removes blocks of this node that another member has. From before the other says so until they are removed here, a
/// read lease at the other keeps them there: without it, two members that give blocks at once could each take the
/// other's copy for the one that stays. If each leases the copy of the other, neither can remove its own. Then the
/// member whose name comes first tries again under its lease, and the other gives way until its next pass.
///
/// @param own blocks of this node
/// @param name of this node
/// @param timers for pauses, and the age of a lease
record HandOver(BlockTier own, String name, Scheduler timers) {
  private static final LeaseTerms TERMS = LeaseTerms.defaults().withPrefixOnly(false);
  private static final Duration BETWEEN_TRIES = Duration.ofMillis(20);
  private static final int MOST_TRIES = 5;

  /// What became of some blocks.
  ///
  /// @param there keys that the other member has, by its own word
  /// @param removed those of them that are not here any more
  record Outcome(Set<BlockKey> there, Set<BlockKey> removed) {
    static final Outcome NOTHING = new Outcome(Set.of(), Set.of());

    private static Outcome of(List<Outcome> parts) {
      Set<BlockKey> there = new HashSet<>();
      Set<BlockKey> removed = new HashSet<>();
      parts.forEach(part -> {
        there.addAll(part.there);
        removed.addAll(part.removed);
      });
      return new Outcome(there, removed);
    }
  }

  /// One lease, and what is to be done still.
  private record Step(Outcome outcome, List<BlockKey> left) {}

  /// Removes those of `keys` here that `node` has, and keeps their pins there. A block stays here if it is read, or if
  /// the other can neither lease nor pin it. Failures of the other member are not signalled.
  ///
  /// @param member name of the other member
  Mono<Outcome> to(String member, BlockTier node, List<BlockKey> keys) {
    return Mono.using(() -> node.holds(this), there -> step(there, member, keys)
        .expand(done -> done.left.isEmpty() ? Mono.empty() : step(there, member, done.left))
        .map(Step::outcome).collectList().map(Outcome::of), TierHolds::close);
  }

  /// As many of `keys` as one lease may hold.
  private Mono<Step> step(TierHolds there, String member, List<BlockKey> keys) {
    return Mono.defer(() -> {
      long asked = timers.now(TimeUnit.NANOSECONDS);
      return there.lease(keys, TERMS).flatMap(lease -> {
        List<BlockKey> found = picked(keys, lease.found().bits().stream());
        List<BlockKey> leased = picked(keys, lease.leased().bits().stream());
        List<BlockKey> left =
            leased.isEmpty() ? List.of() : found.stream().filter(key -> !leased.contains(key)).toList();
        long until = asked + lease.life().toNanos() / 2;
        return pinnedAlike(leased, there).flatMap(alike -> removed(alike, name.compareTo(member) < 0, until))
            .map(removed -> new Step(new Outcome(Set.copyOf(found), removed), left))
            .flatMap(step -> released(there, lease).thenReturn(step));
      });
    }).onErrorResume(HandOver::isOfMember, gone -> Mono.just(new Step(Outcome.NOTHING, List.of())));
  }

  private static Mono<Boolean> released(TierHolds there, ReadLease lease) {
    return lease.id() == 0
        ? Mono.just(false)
        : there.release(lease.id()).onErrorResume(HandOver::isOfMember, gone -> Mono.just(false));
  }

  /// Pins blocks at the other member as they are pinned here.
  ///
  /// @return keys whose blocks are kept alike now
  private Mono<List<BlockKey>> pinnedAlike(List<BlockKey> keys, TierHolds there) {
    return keys.isEmpty() ? Mono.just(keys) : own.terms(keys).flatMap(terms -> {
      Map<Pin, List<BlockKey>> pinned = new LinkedHashMap<>();
      List<BlockKey> alike = new ArrayList<>();
      for (int i = 0; i < keys.size(); i++) {
        Pin pin = terms.get(i).pin();
        (pin == null ? alike : pinned.computeIfAbsent(pin, each -> new ArrayList<>())).add(keys.get(i));
      }
      return Flux.fromIterable(pinned.entrySet())
          .concatMap(pin -> pinned(pin.getValue(), pin.getKey(), there), 1).collectList().map(lists -> {
            lists.forEach(alike::addAll);
            return alike;
          });
    });
  }

  private static Mono<List<BlockKey>> pinned(List<BlockKey> keys, Pin pin, TierHolds there) {
    return there.pin(keys, pin)
        .map(outcomes -> picked(keys, IntStream.range(0, keys.size()).filter(i -> outcomes.get(i).isDone())))
        .onErrorResume(HandOver::isOfMember, gone -> Mono.just(List.of()));
  }

  /// Removes blocks here that no lease holds.
  ///
  /// @param insists whether to try again those that a lease holds
  /// @param until when the lease at the other member may be too old
  private Mono<Set<BlockKey>> removed(List<BlockKey> keys, boolean insists, long until) {
    Set<BlockKey> removed = new HashSet<>();
    return Mono.using(() -> own.holds(this), here -> Flux.range(0, insists ? MOST_TRIES : 1)
        .concatMap(number -> number == 0 || removed.size() == keys.size()
            ? attempt(here, keys, removed, until)
            : Mono.delay(BETWEEN_TRIES, timers).then(attempt(here, keys, removed, until)), 0)
        .then(Mono.just(removed)), TierHolds::close);
  }

  private Mono<Void> attempt(TierHolds here, List<BlockKey> keys, Set<BlockKey> removed, long until) {
    return Mono.defer(() -> {
      List<BlockKey> left = keys.stream().filter(key -> !removed.contains(key)).toList();
      return left.isEmpty() || timers.now(TimeUnit.NANOSECONDS) >= until
          ? Mono.empty()
          : here.remove(left, false).doOnNext(outcomes -> removed.addAll(picked(left, IntStream.range(0, left.size())
              .filter(i -> isGone(outcomes.get(i)))))).then();
    });
  }

  private static boolean isGone(KeyOutcome outcome) {
    return outcome == KeyOutcome.OK || outcome == KeyOutcome.NOT_FOUND;
  }

  private static List<BlockKey> picked(List<BlockKey> keys, IntStream positions) {
    return positions.mapToObj(keys::get).toList();
  }

  /// Whether a failure is of the other member, and leaves others to ask.
  static boolean isOfMember(Throwable failure) {
    return failure instanceof TransientKvException || failure instanceof TierClosedException;
  }
}
