package io.penstock.examples.disaggregated;

import io.penstock.check.Checks;
import io.penstock.examples.disaggregated.model.ModelConfig;

/// How an instance splits a model over its ranks. Ranks are numbered stage by stage, inside a stage by prefill context
/// part, inside that by tensor part.
///
/// @param tp tensor parallelism: parts of the heads and of the feed-forward columns
/// @param pp pipeline parallelism: stages of layers
/// @param pcp prefill context parallelism: copies of the tensor parts, which share the tokens
/// @param dcp decode context parallelism: tensor parts with equal KV heads, which share the tokens
record Parallelism(int tp, int pp, int pcp, int dcp) {
  static final Parallelism ONE = new Parallelism(1, 1, 1, 1);

  Parallelism {
    Checks.positive("tp", tp);
    Checks.positive("pp", pp);
    Checks.positive("pcp", pcp);
    Checks.positive("dcp", dcp);
    if (tp % dcp != 0) {
      throw new IllegalArgumentException("tp must be a multiple of dcp, " + dcp + " (was " + tp + ")");
    }
  }

  int ranks() {
    return tp * pp * pcp;
  }

  /// Ranks that share the tokens of one KV head.
  int contextParts() {
    return pcp * dcp;
  }

  int rank(int stage, int contextCopy, int tensorPart) {
    return (stage * pcp + contextCopy) * tp + tensorPart;
  }

  /// @throws IllegalArgumentException naming the first rule that `model` breaks
  void requireFor(ModelConfig model) {
    if (model.heads() % tp != 0) {
      throw new IllegalArgumentException("tp must divide the " + model.heads() + " query heads (was " + tp + ")");
    }
    if (pp > model.layers()) {
      throw new IllegalArgumentException("pp must be <= the " + model.layers() + " layers (was " + pp + ")");
    }
    for (int part = 0; part < tp; part++) {
      if (firstKvHead(model, part) != firstKvHead(model, part / dcp * dcp)
          || endKvHead(model, part) != endKvHead(model, part / dcp * dcp)) {
        throw new IllegalArgumentException("dcp must join tensor parts with equal KV heads, of which there are "
            + model.kvHeads() + " for tp " + tp + " (was " + dcp + ")");
      }
    }
  }

  /// First KV head of a tensor part: those that its query heads read. Parts share a head where `tp` does not divide
  /// them.
  int firstKvHead(ModelConfig model, int tensorPart) {
    return tensorPart * model.kvHeads() / tp;
  }

  int endKvHead(ModelConfig model, int tensorPart) {
    return Math.ceilDiv((tensorPart + 1) * model.kvHeads(), tp);
  }

  /// First layer of a stage. The remainder goes to the last stages but one, as vLLM shares it out; the draft head's
  /// layer belongs to the last stage.
  int firstLayer(ModelConfig model, int stage) {
    if (stage == pp) {
      return model.cachedLayers();
    }
    int remainder = model.layers() % pp;
    int larger = Math.max(0, stage - (pp - 1 - remainder)); // stages before this one with a layer more
    return stage * (model.layers() / pp) + Math.min(larger, remainder);
  }

  int stageOf(ModelConfig model, int layer) {
    int stage = pp - 1;
    while (firstLayer(model, stage) > layer) {
      stage--;
    }
    return stage;
  }
}
