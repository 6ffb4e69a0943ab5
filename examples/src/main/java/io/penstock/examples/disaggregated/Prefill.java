package io.penstock.examples.disaggregated;

import io.penstock.check.Checks;
import java.util.Arrays;
import java.util.function.IntConsumer;

/// Computes the cache of a prompt, chunk after chunk.
final class Prefill {
  private final Sequence sequence;
  private final int chunkTokens;
  private final IntConsumer layerDone;
  /// What came out of the last layer for the token before the next one.
  private float[] before;

  /// @param chunkTokens most tokens computed at a time
  /// @param layerDone called after each layer of each chunk
  Prefill(Sequence sequence, int chunkTokens, IntConsumer layerDone) {
    this.sequence = sequence;
    this.chunkTokens = Checks.positive("chunkTokens", chunkTokens);
    this.layerDone = layerDone;
    this.before = new float[sequence.model().config().hiddenSize()];
  }

  static Prefilled of(Sequence sequence, int[] prompt) {
    return new Prefill(sequence, Integer.MAX_VALUE, layer -> {}).run(prompt);
  }

  /// Computes all tokens that the sequence has not cached, and at least the last one. A draft head needs the vector of
  /// the token before, too, which no cache has: it is computed again.
  Prefilled run(int[] prompt) {
    boolean drafts = sequence.model().config().draftLayers() > 0;
    int first = Math.min(sequence.finalTokens(), prompt.length - 1);
    if (drafts && first > 0) {
      before = sequence.forward(new int[] {prompt[first - 1]}, first - 1)[0];
    }
    for (int from = first; from < prompt.length; from += Math.min(chunkTokens, prompt.length - from)) {
      chunk(Arrays.copyOfRange(prompt, from, from + Math.min(chunkTokens, prompt.length - from)), from);
    }
    return new Prefilled(before, sequence.model().logits(before));
  }

  private void chunk(int[] tokens, int from) {
    float[][] xs = sequence.forward(tokens, from, layerDone);
    if (sequence.model().config().draftLayers() > 0) {
      sequence.draft(tokens, shifted(xs), from);
      layerDone.accept(sequence.model().config().layers());
    }
    before = xs[xs.length - 1];
    sequence.finish(Math.max(sequence.finalTokens(), from + tokens.length));
  }

  /// For each token the vector of the token before it.
  private float[][] shifted(float[][] xs) {
    float[][] shifted = new float[xs.length][];
    shifted[0] = before;
    System.arraycopy(xs, 0, shifted, 1, xs.length - 1);
    return shifted;
  }
}
