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

  /// The rank, numbered inside its stage, that keeps the token at `position` for the KV head that query head `head`
  /// reads: one of those that share the tokens with the head's own rank.
  int keeper(int head, int position) {
    int tensorPart = head / (model.heads() / parallelism.tp());
    int contextPart = position / format.blockTokens() % parallelism.contextParts();
    int shared = tensorPart / parallelism.dcp() * parallelism.dcp() + contextPart % parallelism.dcp();
    return parallelism.rank(0, contextPart / parallelism.dcp(), shared);
  }

  /// The rank, numbered inside its stage, that computes query head `head` for the token at `position`: of the tensor
  /// part that has the head, the copy that has the token.
  int headRank(int head, int position) {
    int contextPart = position / format.blockTokens() % parallelism.contextParts();
    return parallelism.rank(0, contextPart / parallelism.dcp(), head / (model.heads() / parallelism.tp()));
  }

  /// The rank, numbered inside its stage, that computes a tile of the feed-forward columns for the token at `position`.
  int columnRank(int tile, int position) {
    int contextPart = position / format.blockTokens() % parallelism.contextParts();
    return parallelism.rank(0, contextPart / parallelism.dcp(), tile * parallelism.tp() / model.columnTiles());
  }
}
