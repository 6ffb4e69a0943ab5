package io.penstock.node.cluster.task;

import io.penstock.TransientKvException;
import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.SliceShape;
import io.penstock.tier.BlockTier;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.tier.PutSource;
import io.penstock.tier.TierClosedException;
import io.penstock.wire.cluster.Located;
import io.penstock.wire.cluster.Member;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Gives blocks of this node to other members, a few at a time. A block that another member has already is not sent. A
/// block is removed here only when a member has said that it has it.
///
/// @param blocks of this node
/// @param self whether a member is this node
/// @param wanted whether a member may get blocks
/// @param removes whether the blocks leave this node
record Giving(OwnBlocks blocks, Predicate<Member> self, Predicate<Member> wanted, boolean removes) {
  /// Blocks that are read at one time.
  private static final int WINDOW = 16;

  /// What became of some blocks.
  ///
  /// @param blocks blocks that another member has now
  /// @param sent those of them that were sent
  record Given(int blocks, int sent) {}

  /// Gives the blocks of `keys`. Signals the failure of the last member that was tried if none takes them.
  Mono<Given> give(List<BlockKey> keys) {
    return blocks.cluster().located(keys).flatMap(located -> {
      List<Member> elsewhere = located.members().stream().filter(member -> !self.test(member)).toList();
      return Flux.fromIterable(elsewhere).concatMap(member -> held(keys, located, member), 1)
          .collectList().flatMap(held -> {
            Set<BlockKey> there = new HashSet<>();
            held.forEach(there::addAll);
            List<BlockKey> left = keys.stream().filter(key -> !there.contains(key)).toList();
            return send(left).flatMap(sent -> {
              there.addAll(sent);
              return left(List.copyOf(there)).thenReturn(new Given(there.size(), sent.size()));
            });
          });
    });
  }

  /// Keys that a member has, by its own word. Those of a member that cannot be reached count as not there.
  private Mono<List<BlockKey>> held(List<BlockKey> keys, Located located, Member member) {
    List<BlockKey> told = new ArrayList<>();
    for (int i = 0; i < keys.size(); i++) {
      if (located.holders(i).stream().anyMatch(holder -> located.members().get(holder.member()).equals(member))) {
        told.add(keys.get(i));
      }
    }
    return told.isEmpty() || !wanted.test(member)
        ? Mono.just(List.of())
        : blocks.cluster().at(member).flatMap(node -> node.contains(told)).map(present -> of(told, present))
            .onErrorResume(Giving::isOfMember, gone -> Mono.just(List.of()));
  }

  static boolean isOfMember(Throwable failure) {
    return failure instanceof TransientKvException || failure instanceof TierClosedException;
  }

  private static List<BlockKey> of(List<BlockKey> keys, Presence present) {
    return present.bits().stream().mapToObj(keys::get).toList();
  }

  /// @return keys that a member has now
  private Mono<List<BlockKey>> send(List<BlockKey> keys) {
    if (keys.isEmpty()) {
      return Mono.just(List.of());
    }
    return blocks.cluster().targets(keys.size() * blocks.blockBytes()).flatMap(targets -> {
      Mono<List<BlockKey>> sending = Mono.error(() -> new NoTakerException(targets.size()));
      for (Member target : targets.reversed()) {
        if (self.test(target) || !wanted.test(target)) {
          continue;
        }
        Mono<List<BlockKey>> others = sending;
        sending = blocks.cluster().at(target).flatMap(node -> sent(keys, node))
            .onErrorResume(Giving::isOfMember,
                gone -> others.onErrorResume(NoTakerException.class, none -> Mono.error(gone)));
      }
      return sending;
    });
  }

  private Mono<List<BlockKey>> sent(List<BlockKey> keys, BlockTier to) {
    return Flux.using(BlockScope::new, scope -> blocks.own().lease(keys, OnMiss.SKIP, scope)
        .flatMapMany(lease -> lease.windows(WINDOW, scope)).concatMap(window -> put(window, to), 0), BlockScope::close)
        .concatMapIterable(window -> window).collectList().flatMap(read -> read.isEmpty()
            ? Mono.just(List.<BlockKey>of())
            : to.contains(read).map(present -> of(read, present)));
  }

  /// @return keys of the window, whether they were sent or there already
  private static Mono<List<BlockKey>> put(List<LeasedBlock> window, BlockTier to) {
    List<Block> leased = window.stream().map(LeasedBlock::block).toList();
    List<BlockKey> keys = leased.stream().map(Block::key).toList();
    return to.put(keys, SliceShape.defaults(), PutSource.of(leased, SliceShape.Order.LAYER_FIRST)).then()
        .doFinally(end -> leased.forEach(Block::close)).thenReturn(keys);
  }

  private Mono<Presence> left(List<BlockKey> keys) {
    return removes && !keys.isEmpty()
        ? blocks.own().remove(keys)
        : Mono.just(Presence.of(keys.size(), new BitSet()));
  }

  /// No member takes blocks of this node.
  static final class NoTakerException extends TransientKvException {
    NoTakerException(int members) {
      super("another member must take the blocks (none of " + members + " members that take blocks may)");
    }
  }
}
