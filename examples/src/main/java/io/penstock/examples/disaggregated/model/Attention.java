package io.penstock.examples.disaggregated.model;

/// The linear parts of attention of one layer, head by head: what a rank computes depends on the heads that it has, and
/// a head's numbers do not.
///
/// A cached token has two vectors a KV head, one in each plane.
public interface Attention {
  /// What cached keys are multiplied with, for one query head of one token.
  ///
  /// @param x the token's normalised vector
  float[] query(float[] x, int head, int position);

  /// The vector of one KV head of one token in `plane` of the cache.
  float[] cached(float[] x, int plane, int kvHead, int position);

  /// What one query head adds to the layer's output.
  ///
  /// @param mixed cached values, weighted by the softmax of the head's scores
  float[] output(float[] mixed, int head);

  /// The KV head that a query head reads.
  int kvHead(int head);

  /// How scores and values are read from the two planes.
  TileScorer scorer();
}
