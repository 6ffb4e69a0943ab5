package io.penstock.wire.cluster.tier;

import io.penstock.block.BlockKey;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Presence;
import io.penstock.wire.cluster.Located;
import io.penstock.wire.cluster.Member;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.stream.IntStream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// The nodes of a cluster, each of which is asked itself who has a block: the directory learns a moment late. What is
/// read is read in the order of the keys, so that members count the uses in that order.
record ExactNodes(Nodes nodes) implements Nodes {
  /// Costs a question to every member.
  @Override
  public Mono<Located> locate(List<BlockKey> keys) {
    return nodes.members().flatMap(members -> Flux.fromIterable(members)
        .flatMapSequential(member -> present(member, keys), Asked.SIDE_BY_SIDE, 1).collectList()
        .map(present -> located(members, present, keys.size())));
  }

  private Mono<Presence> present(Member member, List<BlockKey> keys) {
    return nodes.node(member).flatMap(node -> node.contains(keys))
        .onErrorResume(Asked::isPassedOver, gone -> Mono.just(Presence.of(keys.size(), new BitSet())));
  }

  private static Located located(List<Member> members, List<Presence> present, int keys) {
    List<List<Located.Holder>> holders = new ArrayList<>(keys);
    for (int position = 0; position < keys; position++) {
      int at = position;
      holders.add(IntStream.range(0, members.size()).filter(member -> present.get(member).get(at))
          .limit(Located.MOST_HOLDERS).mapToObj(member -> new Located.Holder(member, 0)).toList());
    }
    return Located.of(members, holders);
  }

  @Override
  public Mono<List<Member>> members() {
    return nodes.members();
  }

  @Override
  public Mono<BlockTier> node(Member member) {
    return nodes.node(member);
  }

  @Override
  public int together() {
    return 1;
  }

  @Override
  public Mono<Void> close() {
    return nodes.close();
  }
}
