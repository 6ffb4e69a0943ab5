package io.penstock.examples.disaggregated.model;

/// The linear parts of attention of one layer, head by head: the set of heads of a rank does not change the numbers of
/// a head.
///
/// A cached token has two vectors a KV head, one in each plane.
public interface Attention {
  /// Factor of cached keys, for one query head of one token.
  ///
  /// @param x the token's normalised vector
  float[] query(float[] x, int head, int position);

  /// The vector of one KV head of one token in `plane` of the cache.
  float[] cached(float[] x, int plane, int kvHead, int position);

  /// Contribution of one query head to the layer's output.
  ///
  /// @param mixed cached values, weighted by the softmax of the head's scores
  float[] output(float[] mixed, int head);

  /// The KV head that a query head reads.
  int kvHead(int head);

  /// Reader of scores and values from the two planes.
  TileScorer scorer();
}
