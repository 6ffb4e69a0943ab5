package io.penstock.node.cluster.task;

import io.penstock.TransientKvException;
import io.penstock.block.BlockKey;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Presence;
import io.penstock.wire.cluster.Located;
import io.penstock.wire.cluster.Member;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Gives blocks of this node to other members, a few at a time. A block that another member has already is not sent;
/// members that drain do not count. A block is removed here only as [HandOver] does it. What is sent keeps its pin, its
/// group and its session there; of what is there already, the pin alone.
///
/// @param blocks of this node
/// @param self whether a member is this node
/// @param wanted whether a member may get blocks
/// @param removal removes the blocks here; null if they stay
record Giving(OwnBlocks blocks, Predicate<Member> self, Predicate<Member> wanted, @Nullable HandOver removal) {
  /// What became of some blocks.
  ///
  /// @param blocks blocks that another member has now
  /// @param sent those of them that were sent
  /// @param kept those of them that stay here, though they were to leave
  record Given(int blocks, int sent, int kept) {}

  /// Blocks that another member has, and those of them that are to leave, but did not.
  private record There(Set<BlockKey> all, Set<BlockKey> kept) {
    There() {
      this(new HashSet<>(), new HashSet<>());
    }

    There add(HandOver.Outcome outcome) {
      all.addAll(outcome.there());
      kept.addAll(outcome.there());
      kept.removeAll(outcome.removed());
      return this;
    }

    List<BlockKey> lacking(List<BlockKey> keys) {
      return keys.stream().filter(key -> !all.contains(key)).toList();
    }
  }

  /// Gives the blocks of `keys`. Signals the failure of the last member that was tried if none takes them.
  Mono<Given> give(List<BlockKey> keys) {
    return blocks.cluster().located(keys).flatMap(located -> {
      There there = new There();
      return Flux.fromIterable(located.members())
          .filter(member -> !self.test(member) && member.state() == Member.State.UP && wanted.test(member))
          .concatMap(member -> held(there.lacking(keys), told(keys, located, member), member).map(there::add), 1)
          .then(Mono.defer(() -> send(there.lacking(keys))))
          .map(sent -> {
            there.add(sent.left);
            return new Given(there.all.size(), sent.keys, there.kept.size());
          });
    });
  }

  private static Set<BlockKey> told(List<BlockKey> keys, Located located, Member member) {
    Set<BlockKey> told = new HashSet<>();
    for (int i = 0; i < keys.size(); i++) {
      if (located.holders(i).stream().anyMatch(holder -> located.members().get(holder.member()).equals(member))) {
        told.add(keys.get(i));
      }
    }
    return told;
  }

  /// Keys that a member has, by its own word. Those of a member that cannot be reached count as not there.
  private Mono<HandOver.Outcome> held(List<BlockKey> keys, Set<BlockKey> told, Member member) {
    List<BlockKey> asked = keys.stream().filter(told::contains).toList();
    return asked.isEmpty()
        ? Mono.just(HandOver.Outcome.NOTHING)
        : blocks.cluster().at(member).flatMap(node -> left(member, node, asked))
            .onErrorResume(HandOver::isOfMember, gone -> Mono.just(HandOver.Outcome.NOTHING));
  }

  /// Blocks that are at a member leave, if they are to.
  private Mono<HandOver.Outcome> left(Member member, BlockTier node, List<BlockKey> keys) {
    return removal == null
        ? node.contains(keys).map(present -> stay(of(keys, present)))
        : removal.to(member.name(), node, keys);
  }

  private static HandOver.Outcome stay(List<BlockKey> there) {
    Set<BlockKey> all = Set.copyOf(there);
    return new HandOver.Outcome(all, all);
  }

  private static List<BlockKey> of(List<BlockKey> keys, Presence present) {
    return present.bits().stream().mapToObj(keys::get).toList();
  }

  /// @param keys number of blocks that a member has got
  private record Sent(int keys, HandOver.Outcome left) {}

  private Mono<Sent> send(List<BlockKey> keys) {
    if (keys.isEmpty()) {
      return Mono.just(new Sent(0, HandOver.Outcome.NOTHING));
    }
    return blocks.cluster().targets(keys.size() * blocks.blockBytes()).flatMap(targets -> {
      Mono<Sent> sending = Mono.error(() -> new NoTakerException(targets.size()));
      for (Member target : targets.reversed()) {
        if (self.test(target) || !wanted.test(target)) {
          continue;
        }
        Mono<Sent> others = sending;
        sending = blocks.cluster().at(target).flatMap(node -> sent(target, node, keys))
            .onErrorResume(HandOver::isOfMember,
                gone -> others.onErrorResume(NoTakerException.class, none -> Mono.error(gone)));
      }
      return sending;
    });
  }

  private Mono<Sent> sent(Member target, BlockTier node, List<BlockKey> keys) {
    return new Sending(blocks.own(), true).to(node, keys).map(Sending.Sent::there)
        .flatMap(there -> removal == null || there.isEmpty()
            ? Mono.just(new Sent(there.size(), stay(there)))
            : removal.to(target.name(), node, there).map(left -> new Sent(there.size(), left)));
  }

  /// No member takes blocks of this node.
  static final class NoTakerException extends TransientKvException {
    NoTakerException(int members) {
      super("another member must take the blocks (none of " + members + " members that take blocks may)");
    }
  }
}
