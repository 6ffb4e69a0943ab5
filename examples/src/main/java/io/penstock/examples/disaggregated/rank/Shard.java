package io.penstock.examples.disaggregated.rank;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.PrefixHasher;
import io.penstock.disagg.plan.HeadShards;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.plan.Rank;
import io.penstock.examples.disaggregated.model.ModelConfig;
import io.penstock.examples.disaggregated.model.ModelPart;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Part of a model and of the cache that one rank has.
///
/// @param rank of its deployment
/// @param space of the rank's blocks: other layers and heads are another space
/// @param firstLayer of the rank's pipeline stage
/// @param firstKvHead of those that the rank's query heads read
/// @param endKvHead after the last of them
/// @param contextRank number of this rank among the ranks that share the tokens of its heads
/// @param contextRanks number of those ranks
public record Shard(Rank rank, CacheSpace space, int firstLayer, int firstKvHead, int endKvHead, int contextRank,
    int contextRanks) {
  static Shard of(ModelConfig model, Manifest manifest, int blockTokens, Rank rank) {
    BlockLayout layout = manifest.rankLayout(Deployment.GROUP, rank).orElseThrow();
    HeadShards heads = manifest.heads(Deployment.GROUP);
    int firstLayer = manifest.firstLayer(Deployment.GROUP, rank.stage());
    int firstKvHead = heads.first(rank.tp());
    CacheSpace space = CacheSpace.of(manifest.model(), layout)
        .withShard(new CacheSpace.Shard(model.cachedLayers(), firstLayer, model.kvHeads(), firstKvHead));
    return new Shard(rank, space, firstLayer, firstKvHead, heads.end(rank.tp()),
        manifest.parallelism().contextRank(rank), manifest.parallelism().contextRanks());
  }

  /// The shape of this rank's blocks.
  public BlockLayout layout() {
    return space.layout();
  }

  /// The weights that this rank has.
  ///
  /// @param tensorRanks of the deployment
  ModelPart part(int tensorRanks) {
    return new ModelPart(firstLayer, endLayer(), firstKvHead, endKvHead, rank.tp(), tensorRanks);
  }

  int endLayer() {
    return firstLayer + layout().layers();
  }

  private int blockTokens() {
    return layout().tokens();
  }

  /// Whether this rank keeps the token at `position`.
  boolean hasToken(int position) {
    return position / blockTokens() % contextRanks == contextRank;
  }

  /// Number, among this rank's blocks, of the one that has `position`.
  int block(int position) {
    return position / blockTokens() / contextRanks;
  }

  /// Place of `position` inside its block.
  int token(int position) {
    return position % blockTokens();
  }

  /// Number, among the blocks of the whole sequence, of this rank's block `block`.
  public int sequenceBlock(int block) {
    return block * contextRanks + contextRank;
  }

  /// Blocks that this rank keeps of a sequence of `tokens`.
  public int blocks(int tokens) {
    return Math.ceilDiv(Math.ceilDiv(tokens, blockTokens()) - contextRank, contextRanks);
  }

  /// The keys of this rank's blocks of a prompt, by content: equal prefixes have equal keys in each request.
  public List<BlockKey> keys(int[] prompt) {
    List<BlockKey> keys = new ArrayList<>();
    PrefixHasher hasher = new PrefixHasher(List.of());
    BlockHash hash = BlockHash.ROOT;
    for (int from = 0; from < prompt.length; from += blockTokens()) {
      hash = hasher.next(hash, Arrays.copyOfRange(prompt, from, Math.min(prompt.length, from + blockTokens())));
      if (hasToken(from)) {
        keys.add(space.key(hash));
      }
    }
    return keys;
  }
}
