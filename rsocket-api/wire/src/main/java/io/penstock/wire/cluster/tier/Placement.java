package io.penstock.wire.cluster.tier;

import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.Member.State;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// Where new blocks go: behind the block before them, so that a prefix and a session stay together, as long as that
/// member has room or nobody has; else to a near member with room, and of those to the emptier and less busy one.
///
/// @param place of the writer, see [Member#place()]
/// @param random draws among members that are equally near, full and busy
record Placement(String place, RandomGenerator random) {
  /// Steps in which fullness and load are compared: finer ones would send all writers to one member.
  private static final int STEPS = 16;

  /// Members in the order in which they are tried.
  ///
  /// @param bytes of the new blocks
  /// @param before the member that has the block before them; null if nobody has, or there is none
  List<Member> order(List<Member> members, long bytes, @Nullable Member before) {
    List<Member> up = new ArrayList<>(members.stream().filter(member -> member.state() == State.UP).toList());
    boolean roomSomewhere = up.stream().anyMatch(member -> hasRoom(member, bytes));
    Map<Member, Integer> drawn = new IdentityHashMap<>();
    synchronized (random) {
      up.forEach(member -> drawn.put(member, random.nextInt()));
    }
    up.sort(Comparator
        .comparing((Member member) -> !(isSame(member, before) && (hasRoom(member, bytes) || !roomSomewhere)))
        .thenComparing(member -> !hasRoom(member, bytes))
        .thenComparing(member -> -Member.nearness(place, member.place()))
        .thenComparing(member -> step(member.figures()))
        .thenComparing(drawn::get));
    return up;
  }

  private static boolean isSame(Member one, @Nullable Member other) {
    return other != null && one.name().equals(other.name()) && one.generation() == other.generation();
  }

  private static boolean hasRoom(Member member, long bytes) {
    return member.figures().freeBytes() >= bytes;
  }

  private static int step(Member.Figures figures) {
    double full = figures.bytes() / (double) Math.max(1, figures.capacityBytes());
    return (int) (STEPS * Math.min(1, full));
  }
}
