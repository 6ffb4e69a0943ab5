package io.penstock.wire.cluster.tier;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.SliceShape;
import io.penstock.block.session.SessionUse;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Presence;
import io.penstock.tier.PutSource;
import io.penstock.tier.Receipt;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.tier.TierInfo;
import io.penstock.wire.cluster.Located;
import io.penstock.wire.cluster.Member;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Puts into a cluster: the keys that no member has go to one member, see [Placement]. A member that is away is passed
/// over, until it has let the put begin.
///
/// @param info of the cluster
/// @param ends of the long prefixes that were asked for last
record ClusterPuts(TierInfo info, Nodes nodes, Nearest nearest, Placement placement, PrefixEnds ends) {
  /// Keys of a put that one member is to take.
  ///
  /// @param present keys that need no transfer
  /// @param before the member that has a long prefix before them; null if there is none
  /// @param session of the put; null for none
  private record Wanted(List<BlockKey> all, KeyRun run, Presence present, @Nullable Member before,
      @Nullable SessionUse session) {
    List<BlockKey> keys() {
      return run.keys(all);
    }

    boolean isEmpty() {
      return run.positions().length == 0;
    }
  }

  /// @param keys distinct, of the space
  Mono<Reservation> reserve(List<BlockKey> keys, PutTerms terms, BlockScope scope) {
    return wanted(keys, terms).flatMap(wanted -> wanted.isEmpty()
        ? Mono.fromSupplier(() -> scope.adopt(new PartReservation(null, wanted.run, wanted.present)))
        : targets(wanted).flatMap(targets -> reserve(wanted, targets, terms, scope)));
  }

  private Mono<Reservation> reserve(Wanted wanted, List<Member> targets, PutTerms terms, BlockScope scope) {
    Mono<Reservation> here = nodes.node(targets.getFirst())
        .flatMap(node -> node.reserve(wanted.keys(), terms, scope))
        .map(room -> scope.adopt(new PartReservation(room, wanted.run, wanted.present)));
    List<Member> others = targets.subList(1, targets.size());
    return others.isEmpty()
        ? here
        : here.onErrorResume(Asked::isPassedOver, gone -> reserve(wanted, others, terms, scope));
  }

  /// @param keys distinct, of the space
  Flux<Receipt> put(List<BlockKey> keys, PutTerms terms, SliceShape shape, PutSource source) {
    return wanted(keys, terms).flatMapMany(wanted -> wanted.isEmpty()
        ? Flux.empty()
        : targets(wanted).flatMapMany(targets -> put(wanted, targets, terms, shape,
            new PartSource(source, wanted.run.positions()))));
  }

  private Flux<Receipt> put(Wanted wanted, List<Member> targets, PutTerms terms, SliceShape shape,
      PartSource source) {
    Flux<Receipt> here = nodes.node(targets.getFirst())
        .flatMapMany(node -> node.put(wanted.keys(), terms, shape, source));
    List<Member> others = targets.subList(1, targets.size());
    return others.isEmpty()
        ? here
        : here.onErrorResume(failure -> Asked.isPassedOver(failure) && !source.hasBegun(),
            gone -> put(wanted, others, terms, shape, source));
  }

  /// The keys that no member has, or all of them if blocks are to be replaced.
  private Mono<Wanted> wanted(List<BlockKey> keys, PutTerms terms) {
    return Asked.of(nodes, nearest, keys).flatMap(asked -> asked.present(BlockTier::contains).map(present -> {
      BitSet wanted = new BitSet();
      wanted.set(0, keys.size());
      if (!terms.upserts()) {
        wanted.andNot(present.bits());
      }
      return new Wanted(keys, KeyRun.of(0, wanted),
          terms.upserts() ? Presence.of(keys.size(), new BitSet()) : present,
          before(keys, asked.remaining().located(), present), terms.session());
    }));
  }

  private @Nullable Member before(List<BlockKey> keys, Located located, Presence present) {
    Member behind = ends.learn(keys, located, present);
    return behind == null && !keys.isEmpty() ? ends.before(keys.getFirst()) : behind;
  }

  private Mono<List<Member>> targets(Wanted wanted) {
    long bytes = (long) wanted.run.positions().length * info.space().layout().blockBytes();
    return nodes.members().map(members -> {
      List<Member> targets = placement.order(members, bytes, wanted.before, wanted.session);
      if (targets.isEmpty()) {
        throw new NoMemberException(info.name(), members);
      }
      return targets;
    });
  }
}
