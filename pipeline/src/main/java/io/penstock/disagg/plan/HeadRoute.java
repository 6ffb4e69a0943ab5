package io.penstock.disagg.plan;

import java.util.ArrayList;
import java.util.List;

/// Heads that a decode rank reads from one copy on the prefill side.
///
/// @param heads of the group
/// @param copy of the first of them
record HeadRoute(Extent heads, int copy) {
  /// Splits the heads of a decode rank into routes. A route ends where the chosen prefill rank keeps no more of them.
  ///
  /// @param reader tensor-parallel rank of the decode side
  static List<HeadRoute> of(HeadShards source, HeadShards destination, int reader, ReplicaChoice choice) {
    List<HeadRoute> routes = new ArrayList<>();
    int first = destination.first(reader);
    for (int head = first; head < destination.end(reader);) {
      int copy = choice.choose(destination.copy(head, reader), destination.copies(head), source.copies(head));
      int keeper = source.rank(head, copy, 0);
      int end = Math.min(destination.end(reader), source.end(keeper));
      routes.add(new HeadRoute(new Extent(head, end - head, head - source.first(keeper), head - first), copy));
      head = end;
    }
    return routes;
  }

  /// The rank to read from.
  ///
  /// @param place among the ranks of the copy that split a sequence
  int rank(HeadShards source, int place) {
    return source.rank(heads.first(), copy, place);
  }
}
