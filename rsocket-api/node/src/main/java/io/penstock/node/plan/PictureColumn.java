package io.penstock.node.plan;

import io.penstock.disagg.plan.Rank;
import io.penstock.disagg.plan.Transfer;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/// Places of the ranks of one side in a picture: one below the other, each as high as its arrows need.
final class PictureColumn {
  static final int ARROW = 22;
  private static final int LEAST = 52;
  private static final int GAP = 10;

  private final Map<Rank, Integer> tops = new LinkedHashMap<>();
  private final Map<Rank, List<Transfer>> arrows = new HashMap<>();
  private int height;

  /// @param ranks to draw, from top to bottom
  /// @param arrowsOf the arrows that begin or end at a rank, from top to bottom
  PictureColumn(List<Rank> ranks, Function<Rank, List<Transfer>> arrowsOf) {
    for (Rank rank : ranks) {
      tops.put(rank, height);
      arrows.put(rank, arrowsOf.apply(rank));
      height += height(rank) + GAP;
    }
  }

  Iterable<Rank> ranks() {
    return tops.keySet();
  }

  /// Height of all ranks.
  int height() {
    return height;
  }

  int top(Rank rank) {
    return tops.getOrDefault(rank, 0);
  }

  int height(Rank rank) {
    return Math.max(LEAST, arrows(rank).size() * ARROW + GAP);
  }

  private List<Transfer> arrows(Rank rank) {
    return arrows.getOrDefault(rank, List.of());
  }

  /// Point where an arrow touches the box of a rank: its arrows stand in the middle of the box.
  double arrow(Rank rank, Transfer transfer) {
    int count = arrows(rank).size();
    double first = top(rank) + height(rank) / 2.0 - (count - 1) * ARROW / 2.0;
    return first + arrows(rank).indexOf(transfer) * ARROW;
  }
}
