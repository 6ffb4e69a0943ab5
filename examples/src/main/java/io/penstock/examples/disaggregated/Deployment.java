package io.penstock.examples.disaggregated;

import static java.util.Objects.requireNonNull;

import io.penstock.examples.disaggregated.model.ModelConfig;
import java.util.List;
import java.util.stream.IntStream;

/// An instance of a model: what it splits, and how it keeps the cache.
///
/// @param model sizes of the model
/// @param parallelism over which ranks
/// @param format of the blocks
record Deployment(ModelConfig model, Parallelism parallelism, KvFormat format) {
  Deployment {
    requireNonNull(model, "model");
    requireNonNull(format, "format");
    parallelism.requireFor(model);
  }

  /// All in one rank.
  static Deployment monolithic(ModelConfig model) {
    return new Deployment(model, Parallelism.ONE, KvFormat.defaults());
  }

  /// What each rank has, in the order of the ranks.
  List<Shard> shards() {
    return IntStream.range(0, parallelism.ranks()).mapToObj(rank -> new Shard(this, rank)).toList();
  }

  /// The rank that has KV head and token of what a query head's rank reads at `position`, in the stage of `layer`.
  int rankOf(int layer, int head, int position) {
    int tensorPart = head / (model.heads() / parallelism.tp());
    int contextPart = position / format.blockTokens() % parallelism.contextParts();
    int shared = tensorPart / parallelism.dcp() * parallelism.dcp() + contextPart % parallelism.dcp();
    return parallelism.rank(parallelism.stageOf(model, layer), contextPart / parallelism.dcp(), shared);
  }

  /// The rank that computes the query of `head` for the token at `position`: of the tensor part that has the head, the
  /// copy that has the token.
  int queryRank(int layer, int head, int position) {
    int contextPart = position / format.blockTokens() % parallelism.contextParts();
    return parallelism.rank(parallelism.stageOf(model, layer), contextPart / parallelism.dcp(),
        head / (model.heads() / parallelism.tp()));
  }

  /// The rank that computes a tile of the feed-forward columns for the token at `position`.
  int columnRank(int layer, int tile, int position) {
    int contextPart = position / format.blockTokens() % parallelism.contextParts();
    return parallelism.rank(parallelism.stageOf(model, layer), contextPart / parallelism.dcp(),
        tile * parallelism.tp() / model.columnTiles());
  }
}
