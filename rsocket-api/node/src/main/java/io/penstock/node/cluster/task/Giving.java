package io.penstock.node.cluster.task;

import io.penstock.TransientKvException;
import io.penstock.block.BlockKey;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Presence;
import io.penstock.tier.TierClosedException;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierHolds.Pin;
import io.penstock.wire.cluster.Located;
import io.penstock.wire.cluster.Member;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Gives blocks of this node to other members, a few at a time. A block that another member has already is not sent. A
/// block is removed here only when a member has said that it has it. What is sent keeps its pin, its group and its
/// session there; of what is there already, the pin alone.
///
/// @param blocks of this node
/// @param self whether a member is this node
/// @param wanted whether a member may get blocks
/// @param removes whether the blocks leave this node
record Giving(OwnBlocks blocks, Predicate<Member> self, Predicate<Member> wanted, boolean removes) {
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
        : blocks.cluster().at(member)
            .flatMap(node -> node.contains(told).flatMap(present -> keptAlike(of(told, present), node)))
            .onErrorResume(Giving::isOfMember, gone -> Mono.just(List.of()));
  }

  /// Pins blocks that another member has as they are pinned here, if they leave this node.
  ///
  /// @return keys of `there` whose blocks are kept alike now
  private Mono<List<BlockKey>> keptAlike(List<BlockKey> there, BlockTier node) {
    if (!removes || there.isEmpty()) {
      return Mono.just(there);
    }
    return blocks.own().terms(there).flatMap(terms -> {
      Map<Pin, List<BlockKey>> pinned = new LinkedHashMap<>();
      List<BlockKey> alike = new ArrayList<>();
      for (int i = 0; i < there.size(); i++) {
        Pin pin = terms.get(i).pin();
        (pin == null ? alike : pinned.computeIfAbsent(pin, each -> new ArrayList<>())).add(there.get(i));
      }
      return Flux.fromIterable(pinned.entrySet())
          .concatMap(pin -> pinned(pin.getValue(), pin.getKey(), node), 1).collectList().map(lists -> {
            lists.forEach(alike::addAll);
            return alike;
          });
    });
  }

  private Mono<List<BlockKey>> pinned(List<BlockKey> keys, Pin pin, BlockTier node) {
    return Mono.using(() -> node.holds(this), holds -> holds.pin(keys, pin), TierHolds::close)
        .map(outcomes -> IntStream.range(0, keys.size()).filter(i -> outcomes.get(i).isDone()).mapToObj(keys::get)
            .toList())
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
        sending = blocks.cluster().at(target)
            .flatMap(node -> new Sending(blocks.own(), true).to(node, keys)).map(Sending.Sent::there)
            .onErrorResume(Giving::isOfMember,
                gone -> others.onErrorResume(NoTakerException.class, none -> Mono.error(gone)));
      }
      return sending;
    });
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
