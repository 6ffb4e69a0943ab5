package io.penstock.examples.disaggregated;

import io.penstock.block.BlockLayout;
import io.penstock.disagg.plan.HeadShards;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.plan.Rank;

/// What one rank has of a model and of the cache.
///
/// @param deployment that the rank belongs to
/// @param rank of it
record Shard(Deployment deployment, Rank rank) {
  private Manifest manifest() {
    return deployment.manifest();
  }

  private int contextRanks() {
    return manifest().parallelism().contextRanks();
  }

  private int contextRank() {
    return manifest().parallelism().contextRank(rank);
  }

  private int blockTokens() {
    return deployment.format().blockTokens();
  }

  int firstLayer() {
    return manifest().firstLayer(Deployment.GROUP, rank.stage());
  }

  int endLayer() {
    return manifest().firstLayer(Deployment.GROUP, rank.stage() + 1);
  }

  int firstKvHead() {
    return heads().first(rank.tp());
  }

  int endKvHead() {
    return heads().end(rank.tp());
  }

  private HeadShards heads() {
    return manifest().heads(Deployment.GROUP);
  }

  /// The shape of this rank's blocks.
  BlockLayout layout() {
    return manifest().rankLayout(Deployment.GROUP, rank).orElseThrow();
  }

  /// Whether this rank keeps the token at `position`.
  boolean hasToken(int position) {
    return position / blockTokens() % contextRanks() == contextRank();
  }

  /// Number, among this rank's blocks, of the one that has `position`.
  int block(int position) {
    return position / blockTokens() / contextRanks();
  }

  /// Place of `position` inside its block.
  int token(int position) {
    return position % blockTokens();
  }

  /// Number, among the blocks of the whole sequence, of this rank's block `block`.
  int sequenceBlock(int block) {
    return block * contextRanks() + contextRank();
  }

  /// Blocks that this rank keeps of a sequence of `tokens`.
  int blocks(int tokens) {
    return manifest().rankBlocks(Deployment.GROUP, rank, tokens);
  }
}
