package io.penstock.node.config;

import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.disagg.RankId;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.plan.Rank;
import io.penstock.disagg.registry.Registration.Side;

/// The rank of a prefill or decode instance that a node is.
///
/// @param rank its name and number in the instance
/// @param manifest of the instance, of one KV group
public record NodeRank(Side side, RankId rank, Manifest manifest) {
  private static final int GROUP = 0;

  public NodeRank {
    int ranks = ranks(manifest);
    if (rank.rank() >= ranks) {
      throw new IllegalArgumentException(
          "rank.number must be < %d, the ranks of the instance (was %d)".formatted(ranks, rank.rank()));
    }
    manifest.heads(GROUP); // is refused if ranks that share tokens have different heads
    if (manifest.rankLayout(GROUP, place(rank, manifest)).isEmpty()) {
      throw new IllegalArgumentException("rank.pp must be <= %d, the layers of the model (was %d)".formatted(
          manifest.layers(), manifest.parallelism().pp()));
    }
  }

  /// Ranks of the instance, over all its data-parallel replicas.
  public int ranks() {
    return ranks(manifest);
  }

  private static int ranks(Manifest manifest) {
    return Math.multiplyExact(manifest.parallelism().ranks(), manifest.parallelism().dp());
  }

  private static Rank place(RankId rank, Manifest manifest) {
    return manifest.parallelism().rank(rank.rank() % manifest.parallelism().ranks());
  }

  /// The shape of a block of the rank: its layers and heads.
  BlockLayout layout() {
    return manifest.rankLayout(GROUP, place(rank, manifest)).orElseThrow();
  }

  /// `whole`, whose blocks have the layout of the rank, as the part of the model that the rank has.
  CacheSpace part(CacheSpace whole) {
    Rank place = place(rank, manifest);
    return whole.withShard(new CacheSpace.Shard(manifest.layers(), manifest.firstLayer(GROUP, place.stage()),
        manifest.groups().get(GROUP).heads(), manifest.heads(GROUP).first(place.tp())));
  }
}
