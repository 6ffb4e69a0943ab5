package io.penstock.wire.cluster.tier;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.SliceShape;
import io.penstock.operator.InTurn;
import io.penstock.tier.BlockTier;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.tier.PutSource;
import io.penstock.tier.Receipt;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.tier.TierInfo;
import io.penstock.tier.TierStat;
import io.penstock.wire.cluster.Located;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.Member.State;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// A put as one pool as large as all members would do it, key after key: a block that is there counts as used; for
/// another one the block leaves that was used the longest ago, wherever it is, unless a member has room. Costs a
/// question to every member, and then one for each run of blocks that goes to one member. One put at a time.
final class ExactPut {
  private final TierInfo info;
  private final Nodes nodes;
  private final List<BlockKey> keys;
  private final PutTerms terms;
  private final SliceShape shape;
  private final PutSource source;
  private final Map<Integer, Room> rooms = new HashMap<>();
  /// Keys whose holder turned out not to have them.
  private final BitSet gone = new BitSet();
  private int at;
  private int windows;

  /// Room of a member now.
  ///
  /// @param free blocks that it takes without a victim
  /// @param oldest when its next victim was used, see [TierStat#oldestUseMicros()]
  private record Room(long free, long oldest) {
    static Room of(TierStat stat) {
      return new Room(stat.capacityBlocks() - stat.blocks(), stat.oldestUseMicros());
    }

    /// Members with room come before all others.
    long rank() {
      return free > 0 ? Long.MIN_VALUE : oldest;
    }
  }

  ExactPut(TierInfo info, Nodes nodes, List<BlockKey> keys, PutTerms terms, SliceShape shape, PutSource source) {
    this.info = info;
    this.nodes = nodes;
    this.keys = keys;
    this.terms = terms;
    this.shape = shape;
    this.source = source;
  }

  Flux<Receipt> receipts() {
    return keys.isEmpty()
        ? Flux.empty()
        : nodes.locate(keys).flatMapMany(located -> InTurn.of(
            Flux.range(0, located.members().size())
                .filter(member -> located.members().get(member).state() == State.UP)
                .flatMap(member -> look(located, member), Asked.SIDE_BY_SIDE, 1).then(),
            Flux.defer(() -> step(located)).repeat(() -> at < keys.size())));
  }

  private Mono<Void> look(Located located, int member) {
    return nodes.node(located.members().get(member)).flatMap(BlockTier::stat).doOnNext(stat -> {
      synchronized (rooms) {
        rooms.put(member, Room.of(stat));
      }
    }).then().onErrorResume(Asked::isPassedOver, away -> Mono.fromRunnable(() -> leave(member)));
  }

  private void leave(int member) {
    synchronized (rooms) {
      rooms.remove(member);
    }
  }

  private boolean isHeld(Located located, int position) {
    return located.isHeld(position) && !gone.get(position);
  }

  /// The next run of keys, which goes to one member.
  private Flux<Receipt> step(Located located) {
    if (isHeld(located, at)) {
      int holder = located.holders(at).getFirst().member();
      int end = at + 1;
      while (end < keys.size() && isHeld(located, end) && located.holders(end).getFirst().member() == holder) {
        end++;
      }
      return terms.upserts() ? stored(located, holder, end) : InTurn.of(used(located, holder, end), Flux.empty());
    }
    int target = oldest(located);
    int end = at + 1;
    while (end < keys.size() && !isHeld(located, end) && end - at < free(target)) {
      end++;
    }
    return stored(located, target, end);
  }

  private int oldest(Located located) {
    synchronized (rooms) {
      return rooms.entrySet().stream()
          .min(Comparator.comparing((Map.Entry<Integer, Room> room) -> room.getValue().rank())
              .thenComparing(Map.Entry::getKey))
          .map(Map.Entry::getKey).orElseThrow(() -> new NoMemberException(info.name(), located.members()));
    }
  }

  private long free(int member) {
    synchronized (rooms) {
      Room room = rooms.get(member);
      return room == null ? 0 : room.free();
    }
  }

  /// Counts a use of the keys up to `end`. Goes on with the first that is not there after all.
  private Mono<Void> used(Located located, int holder, int end) {
    int first = at;
    return nodes.node(located.members().get(holder)).flatMap(node -> Mono.using(BlockScope::new,
        scope -> node.lease(keys.subList(first, end), OnMiss.SKIP, terms.session(), scope).map(lease -> {
          Presence found = lease.found();
          lease.close();
          return found;
        }), BlockScope::close))
        .onErrorResume(Asked::isPassedOver, away -> Mono.just(Presence.of(end - first, new BitSet())))
        .flatMap(found -> {
          at = first + found.prefix();
          gone.set(at, at < end ? at + 1 : at);
          return look(located, holder);
        });
  }

  private Flux<Receipt> stored(Located located, int target, int end) {
    BitSet positions = new BitSet();
    positions.set(at, end);
    KeyRun run = KeyRun.of(target, positions);
    PartSource part = new PartSource(source, run.positions(), windows);
    Flux<Receipt> receipts = nodes.node(located.members().get(target))
        .flatMapMany(node -> node.put(run.keys(keys), terms, shape, part));
    return InTurn.of(receipts, Flux.defer(() -> {
      at = end;
      windows = part.nextWindow();
      return InTurn.of(look(located, target), Flux.<Receipt>empty());
    })).onErrorResume(failure -> Asked.isPassedOver(failure) && !part.hasBegun(), away -> {
      leave(target);
      gone.set(run.positions()[0], end);
      return Flux.empty();
    });
  }
}
