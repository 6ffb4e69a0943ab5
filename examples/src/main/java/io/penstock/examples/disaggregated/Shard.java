package io.penstock.examples.disaggregated;

import io.penstock.block.BlockLayout;
import io.penstock.examples.disaggregated.model.ModelConfig;

/// What one rank has of a model and of the cache.
///
/// @param deployment that the rank belongs to
/// @param rank number of the rank
record Shard(Deployment deployment, int rank) {
  private Parallelism parallelism() {
    return deployment.parallelism();
  }

  private ModelConfig model() {
    return deployment.model();
  }

  int stage() {
    return rank / (parallelism().tp() * parallelism().pcp());
  }

  int tensorPart() {
    return rank % parallelism().tp();
  }

  /// Which of the ranks that share the tokens of its heads this is.
  int contextPart() {
    int copy = rank / parallelism().tp() % parallelism().pcp();
    return copy * parallelism().dcp() + tensorPart() % parallelism().dcp();
  }

  int firstLayer() {
    return parallelism().firstLayer(model(), stage());
  }

  int endLayer() {
    return parallelism().firstLayer(model(), stage() + 1);
  }

  int firstKvHead() {
    return parallelism().firstKvHead(model(), tensorPart());
  }

  int kvHeads() {
    return parallelism().endKvHead(model(), tensorPart()) - firstKvHead();
  }

  /// The shape of this rank's blocks.
  BlockLayout layout() {
    KvFormat format = deployment.format();
    return new BlockLayout(endLayer() - firstLayer(), format.blockTokens(), format.order(),
        model().planes(kvHeads(), format.type()));
  }

  /// Whether this rank keeps the token at `position`.
  boolean hasToken(int position) {
    return position / deployment.format().blockTokens() % parallelism().contextParts() == contextPart();
  }

  /// Number, among this rank's blocks, of the one that has `position`.
  int block(int position) {
    return position / deployment.format().blockTokens() / parallelism().contextParts();
  }

  /// Place of `position` inside its block.
  int token(int position) {
    return position % deployment.format().blockTokens();
  }

  /// Number, among the blocks of the whole sequence, of this rank's block `block`.
  int sequenceBlock(int block) {
    return block * parallelism().contextParts() + contextPart();
  }

  /// Blocks that this rank keeps of a sequence of `tokens`.
  int blocks(int tokens) {
    int all = Math.ceilDiv(tokens, deployment.format().blockTokens());
    return Math.ceilDiv(Math.max(0, all - contextPart()), parallelism().contextParts());
  }
}
