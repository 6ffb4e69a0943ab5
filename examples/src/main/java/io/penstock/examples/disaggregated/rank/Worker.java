package io.penstock.examples.disaggregated.rank;

import io.penstock.examples.disaggregated.model.Attention;
import io.penstock.examples.disaggregated.model.CachedHeads;
import io.penstock.examples.disaggregated.model.ModelShard;
import io.penstock.examples.disaggregated.model.Softmax;
import io.penstock.examples.disaggregated.model.TileScorer;
import java.util.Arrays;

/// Computation of one rank for one request. It has the weights of its own heads, columns and layers, and its own part
/// of the cache.
///
/// Its results are parts of sums; [Sequence] adds up the parts of all ranks in one order.
public final class Worker implements AutoCloseable {
  private final ModelShard model;
  private final RankCache cache;
  /// The planes of the layer that is computed now, and how many tokens they have; dropped after the layer.
  private final CachedHeads[] planes = new CachedHeads[2];
  private int loadedTokens;

  Worker(ModelShard model, RankCache cache) {
    this.model = model;
    this.cache = cache;
    unload();
  }

  public RankCache cache() {
    return cache;
  }

  ModelShard weights() {
    return model;
  }

  /// Writes keys and values of a token, if this rank keeps it.
  void keep(int layer, int position, float[] x) {
    Shard shard = cache.shard();
    if (shard.hasToken(position)) {
      for (int kvHead = shard.firstKvHead(); kvHead < shard.endKvHead(); kvHead++) {
        for (int plane = 0; plane < cache.layout().planes().size(); plane++) {
          cache.write(layer, plane, kvHead, position, model.attention(layer).cached(x, plane, kvHead, position));
        }
      }
    }
  }

  /// Copies this rank's tokens of a layer to where it computes.
  void load(int layer, int tokens) {
    for (int plane = 0; plane < cache.layout().planes().size(); plane++) {
      planes[plane] = cache.heads(layer, plane, tokens);
    }
    loadedTokens = tokens;
  }

  /// Forgets that copy: between layers and steps a rank has its blocks only.
  void unload() {
    Arrays.fill(planes, CachedHeads.NONE);
  }

  float[] query(int layer, int head, int position, float[] x) {
    return model.attention(layer).query(x, head, position);
  }

  /// Softmax of a query over tokens of one tile, all of which this rank has.
  ///
  /// @param position of the first token of the tile that the query may see
  /// @param count of the tokens that it may see
  Softmax attend(int layer, int head, float[] query, int position, int count) {
    Attention attention = model.attention(layer);
    int row = cache.row(attention.kvHead(head), position, loadedTokens);
    return attention.scorer().tile(query, plane(0), plane(1), row, count);
  }

  /// Contribution of one head to the layer's output, from the softmax over all tokens.
  float[] attended(int layer, int head, Softmax all) {
    return model.attention(layer).output(all.divided(), head);
  }

  /// Contribution of one tile of columns to the layer's output.
  float[] fedForward(int layer, int tile, float[] x) {
    return model.feedForward(layer).tile(x, tile);
  }

  Softmax noTokens(int layer) {
    TileScorer scorer = model.attention(layer).scorer();
    return Softmax.empty(scorer.valueWidth(plane(0), plane(1)));
  }

  private CachedHeads plane(int plane) {
    return planes[plane];
  }

  @Override
  public void close() {
    cache.close();
  }
}
