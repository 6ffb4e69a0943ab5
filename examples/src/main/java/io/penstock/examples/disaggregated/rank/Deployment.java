package io.penstock.examples.disaggregated.rank;

import io.penstock.block.BlockLayout;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.plan.Rank;
import io.penstock.examples.disaggregated.model.Model;
import io.penstock.examples.disaggregated.model.ModelConfig;
import io.penstock.examples.disaggregated.model.ModelPart;
import java.util.Arrays;
import java.util.List;

/// An instance of a model as it is split over ranks, and how its ranks keep the cache.
public final class Deployment {
  /// The only group of KV cache: all layers have blocks of one shape.
  public static final int GROUP = 0;

  private final Model model;
  private final Manifest manifest;
  private final KvFormat format;
  private final List<Shard> shards;
  private final int[] stages;

  private Deployment(Model model, Manifest manifest, KvFormat format) {
    this.model = model;
    this.manifest = manifest;
    this.format = format;
    this.shards = manifest.parallelism().allRanks().stream()
        .map(rank -> Shard.of(model.config(), manifest, format.blockTokens(), rank)).toList();
    this.stages = new int[model.config().cachedLayers()];
    shards.forEach(shard -> Arrays.fill(stages, shard.firstLayer(), shard.endLayer(), shard.rank().stage()));
  }

  /// @throws IllegalArgumentException naming the first rule that the split breaks
  public static Deployment of(Model model, Parallelism parallelism, KvFormat format) {
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

  /// A deployment with all in one rank.
  public static Deployment monolithic(Model model, KvFormat format) {
    return of(model, Parallelism.ofTp(1), format);
  }

  public Model model() {
    return model;
  }

  /// Description of the instance for a planner.
  public Manifest manifest() {
    return manifest;
  }

  public KvFormat format() {
    return format;
  }

  public Parallelism parallelism() {
    return manifest.parallelism();
  }

  /// Shard of each rank, in the order of the ranks.
  public List<Shard> shards() {
    return shards;
  }

  public Shard shard(Rank rank) {
    return shards.get(parallelism().index(rank));
  }

  /// The pipeline stage that computes `layer`.
  public int stageOf(int layer) {
    return stages[layer];
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
    return sharing(tile, model.config().columnTiles(), position);
  }

  /// The rank, numbered inside the first stage, that has the embedding of `token`.
  int vocabRank(int token, int position) {
    return sharing(token, model.config().vocabSize(), position);
  }

  private int sharing(int index, int all, int position) {
    return number(contextRank(position) / parallelism().dcp(), ModelPart.rankOf(index, all, parallelism().tp()));
  }

  private int number(int pcp, int tp) {
    return pcp * parallelism().tp() + tp;
  }

  private int tensorRank(int head) {
    return ModelPart.rankOf(head, model.config().heads(), parallelism().tp());
  }

  private int contextRank(int position) {
    return position / format.blockTokens() % parallelism().contextRanks();
  }

  @Override
  public String toString() {
    return SideReport.of(this).toString();
  }
}
