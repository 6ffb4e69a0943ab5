package io.penstock.wire.cluster.tier;

import io.penstock.TransientKvException;
import io.penstock.block.BlockKey;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Presence;
import io.penstock.tier.TierClosedException;
import io.penstock.wire.cluster.Located;
import java.util.BitSet;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// A request that goes to the members that have its keys, round after round, until each key has an answer or no member
/// is left to ask. A member that cannot be reached is passed over.
///
/// @param keys of the request
record Asked(Nodes nodes, List<BlockKey> keys, Remaining remaining) {
  /// Members that are asked side by side.
  static final int SIDE_BY_SIDE = 16;

  /// A request for `keys`, for which any node was asked who has them.
  static Mono<Asked> of(Nodes nodes, Nearest nearest, List<BlockKey> keys) {
    return nodes.locate(keys).map(located -> of(nodes, nearest, keys, located));
  }

  static Asked of(Nodes nodes, Nearest nearest, List<BlockKey> keys, Located located) {
    return new Asked(nodes, keys, new Remaining(located, nearest.ranks(located.members())));
  }

  /// Keys that a member has.
  ///
  /// @param question to one member about its part of the keys
  Mono<Presence> present(BiFunction<BlockTier, List<BlockKey>, Mono<Presence>> question) {
    BitSet found = new BitSet(keys.size());
    return rounds(remaining::groups, run -> node(run).flatMap(node -> question.apply(node, run.keys(keys)))
        .doOnNext(part -> {
          BitSet here = run.in(part);
          remaining.found(here);
          synchronized (found) {
            found.or(here);
          }
        }).then()).then(Mono.fromSupplier(() -> {
          synchronized (found) {
            return Presence.of(keys.size(), found);
          }
        }));
  }

  /// Asks until nothing remains.
  ///
  /// @param next questions of a round
  /// @param question one of them; tells `remaining` what it found
  Mono<Void> rounds(Supplier<List<KeyRun>> next, Function<KeyRun, Mono<Void>> question) {
    return Flux.defer(() -> Flux.fromIterable(next.get()))
        .flatMap(run -> question.apply(run).onErrorResume(Asked::isPassedOver, gone -> passedOver(run)),
            nodes.together(), 1)
        .then().repeat(() -> !remaining.isOver()).then();
  }

  private Mono<Void> passedOver(KeyRun run) {
    return Mono.fromRunnable(() -> remaining.gone(run.member()));
  }

  Mono<BlockTier> node(KeyRun run) {
    return nodes.node(remaining.located().members().get(run.member()));
  }

  /// Whether a failure of one member leaves the others to ask.
  static boolean isPassedOver(Throwable failure) {
    return failure instanceof TransientKvException || failure instanceof TierClosedException;
  }
}
