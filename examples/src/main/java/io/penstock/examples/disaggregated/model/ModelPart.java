package io.penstock.examples.disaggregated.model;

/// The part of a model whose weights one rank has.
///
/// @param firstLayer of its pipeline stage
/// @param endLayer after the last one
/// @param firstKvHead of those that its query heads read
/// @param endKvHead after the last one
/// @param rank number among the ranks that share the heads, columns and tokens of the stage
/// @param ranks number of those ranks
public record ModelPart(int firstLayer, int endLayer, int firstKvHead, int endKvHead, int rank, int ranks) {
  public ModelPart {
    if (rank < 0 || rank >= ranks) {
      throw new IllegalArgumentException("rank must be in [0, " + ranks + ") (was " + rank + ")");
    }
  }

  /// The first of `all` things that rank `rank` of `ranks` has.
  static int first(int all, int rank, int ranks) {
    return (int) ((long) all * rank / ranks);
  }

  /// The rank that has thing `index` of `all`.
  public static int rankOf(int index, int all, int ranks) {
    return (int) (((index + 1L) * ranks - 1) / all);
  }

  int first(int all) {
    return first(all, rank, ranks);
  }

  int count(int all) {
    return first(all, rank + 1, ranks) - first(all);
  }

  int kvHeads() {
    return endKvHead - firstKvHead;
  }
}
