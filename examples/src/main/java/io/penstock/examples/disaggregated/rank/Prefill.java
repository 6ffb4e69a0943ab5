package io.penstock.examples.disaggregated.rank;

import java.util.Arrays;

/// Computes the cache of a prompt, chunk after chunk.
public final class Prefill {
  private final Sequence sequence;
  private final Pace pace;
  private final PrefillSteps steps;
  /// Output of the last layer for the previous token.
  private float[] before;

  public Prefill(Sequence sequence, Pace pace, PrefillSteps steps) {
    this.sequence = sequence;
    this.pace = pace;
    this.steps = steps;
    this.before = new float[sequence.model().config().hiddenSize()];
  }

  public static Prefilled of(Sequence sequence, int[] prompt) {
    return new Prefill(sequence, Pace.whole(), PrefillSteps.NONE).run(prompt);
  }

  /// Computes all tokens that the sequence has not cached, and at least the last one. A draft head needs the vector of
  /// the token before, too, which no cache has: it is computed again.
  public Prefilled run(int[] prompt) {
    boolean drafts = sequence.model().config().draftLayers() > 0;
    int first = Math.min(sequence.finalTokens(), prompt.length - 1);
    if (drafts && first > 0) {
      before = sequence.forward(new int[] {prompt[first - 1]}, first - 1)[0];
    }
    for (int from = first; from < prompt.length; from += Math.min(pace.chunkTokens(), prompt.length - from)) {
      int end = from + Math.min(pace.chunkTokens(), prompt.length - from);
      steps.chunk(end, end == prompt.length);
      chunk(Arrays.copyOfRange(prompt, from, end), from);
    }
    return new Prefilled(before, sequence.logits(before));
  }

  private void chunk(int[] tokens, int from) {
    float[][] xs = sequence.forward(tokens, from, pace.layerRepeats(), steps::layer);
    if (sequence.model().config().draftLayers() > 0) {
      sequence.draft(tokens, shifted(xs), from);
      steps.layer(sequence.model().config().layers());
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
