package io.penstock.wire.cluster.tier;

import io.penstock.wire.cluster.Member;
import java.util.Comparator;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

/// Which member is asked first of those that have a block: the nearest one, and among equals a random one, so that the
/// copies of a block that many want share its readers. A member that drains is asked last.
///
/// @param place of the reader, see [Member#place()]
/// @param random draws among equals
record Nearest(String place, RandomGenerator random) {
  /// The rank of each member, 0 for the first. Each call draws.
  int[] ranks(List<Member> members) {
    int[] drawn = new int[members.size()];
    synchronized (random) {
      for (int i = 0; i < drawn.length; i++) {
        drawn[i] = random.nextInt();
      }
    }
    List<Integer> order = IntStream.range(0, drawn.length).boxed()
        .sorted(Comparator.comparing((Integer i) -> members.get(i).state())
            .thenComparing(i -> -Member.nearness(place, members.get(i).place())).thenComparing(i -> drawn[i]))
        .toList();
    int[] ranks = new int[drawn.length];
    for (int rank = 0; rank < ranks.length; rank++) {
      ranks[order.get(rank)] = rank;
    }
    return ranks;
  }
}
