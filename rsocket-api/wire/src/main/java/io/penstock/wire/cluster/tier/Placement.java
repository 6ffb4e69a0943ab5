package io.penstock.wire.cluster.tier;

import io.penstock.block.session.SessionUse;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.Member.State;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// Where new blocks go. The rest of a long prefix goes behind it, so that a conversation stays at one node; the blocks
/// of a session go to one node, too. Other blocks go to a near member with room, the emptier of two that are drawn;
/// where none has room, to one that is drawn by its capacity.
///
/// A short prefix binds nothing: prompts of all users begin with the same block, and would all go to its node. On a
/// public trace of conversations, a model of 8 nodes that were bound by any prefix had 0.4 × the hits of one node of
/// their capacity. `penstock bench cluster --scenario trace` measures nodes as they are.
///
/// @param place of the writer, see [Member#place()]
/// @param random draws members
record Placement(String place, RandomGenerator random) {
  /// Members in the order in which they are tried.
  ///
  /// @param bytes of the new blocks
  /// @param before the member that has a long prefix before them; null if there is none
  /// @param session of the blocks: equal sessions go to equal members, as long as those have room; null for none
  List<Member> order(List<Member> members, long bytes, @Nullable Member before, @Nullable SessionUse session) {
    List<Member> up = new ArrayList<>(members.stream().filter(member -> member.state() == State.UP).toList());
    boolean roomSomewhere = up.stream().anyMatch(member -> hasRoom(member, bytes));
    Map<Member, Double> drawn =
        session == null ? drawn(up, member -> random) : drawn(up, member -> of(session, member));
    up.sort(Comparator
        .comparing((Member member) -> !(isSame(member, before) && (hasRoom(member, bytes) || !roomSomewhere)))
        .thenComparing(member -> !hasRoom(member, bytes))
        .thenComparing(member -> -Member.nearness(place, member.place()))
        .thenComparing(drawn::get));
    if (session == null) {
      preferEmptier(up, bytes, before);
    }
    return up;
  }

  /// A weight for each member: the lower, the earlier; those of a large capacity are low more often.
  private Map<Member, Double> drawn(List<Member> members, Function<Member, RandomGenerator> draw) {
    Map<Member, Double> drawn = new IdentityHashMap<>();
    synchronized (random) {
      members.forEach(member -> drawn.put(member,
          -Math.log(1 - draw.apply(member).nextDouble()) / Math.max(1, member.figures().capacityBytes())));
    }
    return drawn;
  }

  /// What a session draws for a member is always the same.
  private static RandomGenerator of(SessionUse session, Member member) {
    return new SplittableRandom(31L * session.session().hashCode() + member.name().hashCode());
  }

  /// Of the first two members, where both have room and are equally near, the emptier and less busy comes first.
  private void preferEmptier(List<Member> order, long bytes, @Nullable Member before) {
    if (order.size() > 1 && !isSame(order.getFirst(), before) && hasRoom(order.get(1), bytes)
        && Member.nearness(place, order.get(0).place()) == Member.nearness(place, order.get(1).place())
        && taken(order.get(1)) < taken(order.get(0))) {
      Collections.swap(order, 0, 1);
    }
  }

  private static double taken(Member member) {
    Member.Figures figures = member.figures();
    return (figures.bytes() + (double) figures.inFlightBytes()) / Math.max(1, figures.capacityBytes());
  }

  private static boolean isSame(Member one, @Nullable Member other) {
    return other != null && one.name().equals(other.name()) && one.generation() == other.generation();
  }

  private static boolean hasRoom(Member member, long bytes) {
    return member.figures().freeBytes() >= bytes;
  }
}
