package io.penstock.examples.disaggregated.model;

/// Reads one tile of cached tokens for one query head.
///
/// A tile is a fixed number of consecutive tokens of the sequence, in any blocks and ranks. So sums over tokens have
/// one order: inside a tile, then tile after tile.
public enum TileScorer {
  /// Scores from plane 0, values from plane 1.
  GROUPED(1) {
    @Override
    float score(float[] query, CachedHeads first, CachedHeads second, int at) {
      return Vectors.dot(query, 0, first.values(), at * first.width(), first.width());
    }
  },
  /// Scores from both planes, values from plane 0.
  LATENT(0) {
    @Override
    float score(float[] query, CachedHeads first, CachedHeads second, int at) {
      return Vectors.dot(query, 0, first.values(), at * first.width(), first.width())
          + Vectors.dot(query, first.width(), second.values(), at * second.width(), second.width());
    }
  };

  /// Tokens of a tile; the blocks of a cache have a multiple of them.
  public static final int TILE_TOKENS = 4;

  private final int valuePlane;

  TileScorer(int valuePlane) {
    this.valuePlane = valuePlane;
  }

  abstract float score(float[] query, CachedHeads first, CachedHeads second, int at);

  /// Elements of a value.
  public int valueWidth(CachedHeads first, CachedHeads second) {
    return (valuePlane == 0 ? first : second).width();
  }

  /// Softmax over `count` tokens from row `at` of the planes on.
  public Softmax tile(float[] query, CachedHeads first, CachedHeads second, int at, int count) {
    float[] scores = new float[count];
    float max = Float.NEGATIVE_INFINITY;
    for (int i = 0; i < count; i++) {
      scores[i] = score(query, first, second, at + i);
      max = Math.max(max, scores[i]);
    }
    CachedHeads values = valuePlane == 0 ? first : second;
    float[] mixed = new float[values.width()];
    float sum = 0;
    for (int i = 0; i < count; i++) {
      float weight = Exponential.of(scores[i] - max);
      sum += weight;
      int from = (at + i) * values.width();
      for (int j = 0; j < mixed.length; j++) {
        mixed[j] += weight * values.values()[from + j];
      }
    }
    return new Softmax(max, sum, mixed);
  }
}
