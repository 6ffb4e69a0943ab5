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
import io.penstock.wire.cluster.place.Placement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Puts into a cluster: the keys that no member has go to one member, see [Placement], to several in turn where none
/// has room, and to as many at once as copies are wanted. A member that is away is passed over, until it has let the
/// put begin.
///
/// Blocks to be replaced are removed at every member first, for the new ones may go to another one: for a moment there
/// is neither, and a put that ends in between leaves neither. An exact put replaces them where they are.
///
/// @param info of the cluster
/// @param ends of the long prefixes that were asked for last
/// @param missing counts copies that were wanted and not made
record ClusterPuts(TierInfo info, Nodes nodes, Nearest nearest, Placement placement, PrefixEnds ends, Spread spread,
    LongAdder missing) {
  /// Keys of a put that are wanted.
  ///
  /// @param present keys that need no transfer
  /// @param before the member that has a long prefix before them; null if there is none
  /// @param session of the put; null for none
  private record Wanted(List<BlockKey> all, KeyRun run, Presence present, @Nullable Member before,
      @Nullable SessionUse session) {
    boolean isEmpty() {
      return run.positions().length == 0;
    }
  }

  /// Keys of a put that one member is to take, or several are.
  private record Portion(Wanted wanted, KeyRun run, List<Member> members, PutTerms terms, SliceShape shape) {
    List<BlockKey> keys() {
      return run.keys(wanted.all);
    }
  }

  private long bytes(KeyRun run) {
    return (long) run.positions().length * info.space().layout().blockBytes();
  }

  private Placement.Wish wish(Wanted wanted, KeyRun run) {
    return new Placement.Wish(bytes(run), wanted.before, wanted.session);
  }

  private Placement.Targets targets(Wanted wanted, KeyRun run, List<Member> members) {
    return placement.targets(members, wish(wanted, run));
  }

  /// At one member, whatever the number of copies is.
  ///
  /// @param keys distinct, of the space
  Mono<Reservation> reserve(List<BlockKey> keys, PutTerms terms, BlockScope scope) {
    return without(keys, terms).then(wanted(keys, terms)).flatMap(wanted -> wanted.isEmpty()
        ? Mono.fromSupplier(() -> scope.adopt(new PartReservation(null, wanted.run, wanted.present)))
        : nodes.members().flatMap(members -> reserve(wanted, members, targets(wanted, wanted.run, members), terms,
            scope, null)));
  }

  private Mono<Reservation> reserve(Wanted wanted, List<Member> members, Placement.Targets targets, PutTerms terms,
      BlockScope scope, @Nullable Throwable before) {
    Member target = targets.next();
    if (target == null) {
      return Mono.error(none(members, before));
    }
    placement.given(members, target, bytes(wanted.run));
    return nodes.node(target).flatMap(node -> node.reserve(wanted.run.keys(wanted.all), terms, scope))
        .<Reservation>map(room -> {
          missing.add((long) (spread.copies() - 1) * room.drafts().size());
          return scope.adopt(new PartReservation(room, wanted.run, wanted.present));
        })
        .onErrorResume(Asked::isPassedOver, gone -> reserve(wanted, members, targets, terms, scope, gone));
  }

  private Throwable none(List<Member> members, @Nullable Throwable before) {
    return before == null ? new NoMemberException(info.name(), members) : before;
  }

  /// @param keys distinct, of the space
  Flux<Receipt> put(List<BlockKey> keys, PutTerms terms, SliceShape shape, PutSource source) {
    return spread.exact()
        ? Flux.defer(() -> new ExactPut(info, nodes, keys, terms, shape, source).receipts())
        : without(keys, terms).then(wanted(keys, terms)).flatMapMany(wanted -> wanted.isEmpty()
            ? Flux.empty()
            : nodes.members().flatMapMany(members -> put(wanted, members, terms, shape, source)));
  }

  private Flux<Receipt> put(Wanted wanted, List<Member> members, PutTerms terms, SliceShape shape, PutSource source) {
    AtomicInteger windows = new AtomicInteger();
    return Flux.fromIterable(portions(wanted, members)).concatMap(run -> {
      PartSource part = new PartSource(source, run.positions(), windows.get());
      Portion portion = new Portion(wanted, run, members, terms, shape);
      return (spread.copies() == 1
          ? put(portion, targets(wanted, run, members), part, null)
          : copied(portion, part)).doOnComplete(() -> windows.set(part.nextWindow()));
    }, 0);
  }

  /// Parts that are equal to one block, each for one member.
  private List<KeyRun> portions(Wanted wanted, List<Member> members) {
    KeyRun run = wanted.run;
    int keys = run.positions().length;
    int most = placement.portion(members, wish(wanted, run), info.space().layout().blockBytes());
    if (keys <= most) {
      return List.of(run);
    }
    int parts = Math.ceilDiv(keys, most);
    List<KeyRun> portions = new ArrayList<>(parts);
    for (int i = 0; i < parts; i++) {
      portions.add(new KeyRun(run.member(), Arrays.copyOfRange(run.positions(), (int) ((long) keys * i / parts),
          (int) ((long) keys * (i + 1) / parts))));
    }
    return portions;
  }

  private Flux<Receipt> put(Portion portion, Placement.Targets targets, PartSource source, @Nullable Throwable before) {
    Member target = targets.next();
    if (target == null) {
      return Flux.error(none(portion.members, before));
    }
    return at(target, portion, source).onErrorResume(
        failure -> Asked.isPassedOver(failure) && !source.hasBegun(), gone -> put(portion, targets, source, gone));
  }

  private Flux<Receipt> at(Member target, Portion portion, PutSource source) {
    placement.given(portion.members, target, bytes(portion.run));
    return nodes.node(target).flatMapMany(node -> node.put(portion.keys(), portion.terms, portion.shape, source));
  }

  private Flux<Receipt> copied(Portion portion, PartSource source) {
    return Flux.using(BlockScope::new, held -> {
      Placement.Targets targets = targets(portion.wanted, portion.run, portion.members);
      SharedSource shared = new SharedSource(source, spread.copies(), held);
      CopiedPut put = new CopiedPut(spread.copies());
      List<Flux<Receipt>> puts = new ArrayList<>();
      for (int i = 0; i < spread.copies(); i++) {
        SharedSource.Reader reader = shared.reader(i);
        puts.add(copy(portion, targets, reader, null).doFinally(end -> reader.leave()));
      }
      return put.receipts(puts).doFinally(end -> missing.add(put.missing()));
    }, BlockScope::close);
  }

  private Flux<Receipt> copy(Portion portion, Placement.Targets targets, SharedSource.Reader source,
      @Nullable Throwable before) {
    return Flux.defer(() -> {
      Member target = targets.nextApart();
      return target == null
          ? Flux.error(none(portion.members, before))
          : at(target, portion, source).map(receipt -> named(target, receipt)).onErrorResume(
              failure -> Asked.isPassedOver(failure) && !source.hasBegun(),
              gone -> copy(portion, targets, source, gone));
    });
  }

  private static Receipt named(Member member, Receipt receipt) {
    return new Receipt(receipt.key(), member.name() + " " + receipt.tier(), receipt.durability(), receipt.sequence());
  }

  private Mono<Void> without(List<BlockKey> keys, PutTerms terms) {
    return terms.upserts() ? remove(keys).then() : Mono.empty();
  }

  /// Removes blocks at every member that has them.
  ///
  /// @param keys distinct, of the space
  Mono<Presence> remove(List<BlockKey> keys) {
    return nodes.locate(keys).flatMap(located -> {
      BitSet removed = new BitSet();
      return Flux.range(0, located.members().size())
          .flatMap(member -> removed(keys, located, member).doOnNext(part -> {
            synchronized (removed) {
              removed.or(part);
            }
          }), Asked.SIDE_BY_SIDE, 1).then(Mono.fromSupplier(() -> {
            synchronized (removed) {
              return Presence.of(keys.size(), removed);
            }
          }));
    });
  }

  private Mono<BitSet> removed(List<BlockKey> keys, Located located, int member) {
    KeyRun run = ClusterHolds.held(located, member);
    return nodes.node(located.members().get(member)).flatMap(node -> node.remove(run.keys(keys))).map(run::in);
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
}
