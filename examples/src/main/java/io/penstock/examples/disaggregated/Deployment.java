package io.penstock.examples.disaggregated;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockLayout;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.plan.Rank;
import io.penstock.examples.disaggregated.model.Model;
import io.penstock.examples.disaggregated.model.ModelConfig;
import java.util.List;

/// An instance of a model as it is split over ranks, and how its ranks keep the cache.
///
/// @param model weights
/// @param manifest what a planner needs to know of the instance
/// @param format of the blocks
record Deployment(Model model, Manifest manifest, KvFormat format) {
  /// The only group of KV cache: all layers have blocks of one shape.
  static final int GROUP = 0;

  Deployment {
    requireNonNull(model, "model");
    requireNonNull(manifest, "manifest");
    requireNonNull(format, "format");
  }

  /// @throws IllegalArgumentException naming the first rule that the split breaks
  static Deployment of(Model model, Parallelism parallelism, KvFormat format) {
    ModelConfig config = model.config();
    if (config.heads() % parallelism.tp() != 0) {
      throw new IllegalArgumentException(
          "tp must divide the " + config.heads() + " query heads (was " + parallelism.tp() + ")");
    }
    if (parallelism.pp() > config.layers()) {
      throw new IllegalArgumentException(
          "pp must be <= the " + config.layers() + " layers (was " + parallelism.pp() + ")");
    }
    BlockLayout layout = new BlockLayout(config.cachedLayers(), format.blockTokens(), format.order(),
        config.planes(config.kvHeads(), format.type()));
    Manifest manifest =
        Manifest.of(model.digest(), List.of(Manifest.Group.full(layout)), parallelism, config.draftLayers());
    manifest.heads(GROUP); // is refused if ranks that share tokens have different heads
    return new Deployment(model, manifest, format);
  }

  /// All in one rank.
  static Deployment monolithic(Model model, KvFormat format) {
    return of(model, Parallelism.ofTp(1), format);
  }

  Parallelism parallelism() {
    return manifest.parallelism();
  }

  /// What each rank has, in the order of the ranks.
  List<Shard> shards() {
    return parallelism().allRanks().stream().map(rank -> new Shard(this, rank)).toList();
  }

  /// The pipeline stage that computes `layer`.
  int stageOf(int layer) {
    int stage = parallelism().pp() - 1;
    while (manifest.firstLayer(GROUP, stage) > layer) {
      stage--;
    }
    return stage;
  }

  /// The rank, numbered inside its stage, that keeps the token at `position` for the KV head that query head `head`
  /// reads: one of those that share the tokens with the head's own rank.
  int keeper(int head, int position) {
    int dcp = parallelism().dcp();
    int contextRank = contextRank(position);
    return number(contextRank / dcp, tensorRank(head) / dcp * dcp + contextRank % dcp);
  }

  /// The rank, numbered inside its stage, that computes query head `head` for the token at `position`: of the ranks
  /// that have the head, the one in the prefill context part that has the token.
  int headRank(int head, int position) {
    return number(contextRank(position) / parallelism().dcp(), tensorRank(head));
  }

  /// The rank, numbered inside its stage, that computes a tile of the feed-forward columns for the token at `position`.
  int columnRank(int tile, int position) {
    return number(contextRank(position) / parallelism().dcp(),
        tile * parallelism().tp() / model.config().columnTiles());
  }

  private int number(int pcp, int tp) {
    return parallelism().index(new Rank(0, pcp, tp));
  }

  private int tensorRank(int head) {
    return head / (model.config().heads() / parallelism().tp());
  }

  private int contextRank(int position) {
    return position / format.blockTokens() % parallelism().contextRanks();
  }
}
