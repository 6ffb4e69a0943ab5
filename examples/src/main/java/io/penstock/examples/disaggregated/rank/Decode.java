package io.penstock.examples.disaggregated.rank;

import io.penstock.examples.disaggregated.model.ByteTokenizer;
import io.penstock.examples.disaggregated.model.SpeculativeConfig;
import io.penstock.examples.disaggregated.model.Vectors;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntPredicate;

/// Greedy decoding of one sequence whose prompt is in the cache.
///
/// With a draft head, each step guesses some tokens and lets the model compute them together. A guess is accepted where
/// the model chooses the same token, so the tokens are those of a decode without a draft head, in fewer steps.
public final class Decode {
  private final Sequence sequence;
  private final SpeculativeConfig speculative;
  private final Generated generated = new Generated();
  /// Position of the last token, which is known and not computed yet.
  private int position;
  /// Tokens that the draft layer has not seen, which end with the last one, and the vector before each.
  private int[] unseen;
  private float[][] before;

  private Decode(Sequence sequence, SpeculativeConfig speculative, int promptTokens, Prefilled prefilled) {
    this.sequence = sequence;
    this.speculative = speculative;
    this.position = promptTokens;
    this.unseen = new int[] {prefilled.firstToken()};
    this.before = new float[][] {prefilled.hidden()};
    generated.add(prefilled.firstToken(), prefilled.logits());
  }

  /// Generates up to `tokens` tokens, the first of which the prefill chose.
  public static Generated of(Sequence sequence, SpeculativeConfig speculative, int promptTokens, Prefilled prefilled,
      int tokens) {
    Decode decode = new Decode(sequence, speculative, promptTokens, prefilled);
    while (decode.wants(tokens)) {
      decode.step(tokens);
    }
    return decode.generated;
  }

  /// Generates up to `tokens` tokens, and shows each as soon as it is chosen. The token that ends a text is one like
  /// others here.
  ///
  /// @param next takes a token, and says whether to go on
  public static void stream(Sequence sequence, SpeculativeConfig speculative, int promptTokens, Prefilled prefilled,
      int tokens, IntPredicate next) {
    Decode decode = new Decode(sequence, speculative, promptTokens, prefilled);
    for (int shown = 0;; shown++) {
      if (shown == decode.generated.count()) {
        decode.step(tokens);
      }
      if (!next.test(decode.generated.token(shown)) || shown + 1 == tokens) {
        return;
      }
    }
  }

  private boolean wants(int tokens) {
    return generated.tokens().size() < tokens && generated.last() != ByteTokenizer.END;
  }

  private void step(int tokens) {
    int most = tokens - generated.tokens().size() - 1;
    int[] guesses = guess(Math.min(speculative.draftTokens(), most));
    int[] inputs = new int[guesses.length + 1];
    inputs[0] = generated.last();
    System.arraycopy(guesses, 0, inputs, 1, guesses.length);
    float[][] xs = sequence.forward(inputs, position);
    int accepted = choose(xs, guesses);
    generated.addStep(guesses.length, accepted);
    before = Arrays.copyOf(xs, accepted + 1);
    unseen = lastTokens(accepted + 1);
    position += accepted + 1;
    sequence.finish(speculative.draftLayers() > 0 ? position - accepted : position);
  }

  /// The draft layer computes the tokens that it has not seen, then its own guesses.
  private int[] guess(int count) {
    if (speculative.draftLayers() == 0 || unseen.length == 0) {
      return new int[0];
    }
    int[] guesses = new int[count];
    float[][] xs = sequence.draft(unseen, before, position - unseen.length + 1);
    float[] last = xs[xs.length - 1];
    for (int i = 0; i < count; i++) {
      guesses[i] = Vectors.argMax(sequence.draftLogits(last));
      if (i + 1 < count) {
        last = sequence.draft(new int[] {guesses[i]}, new float[][] {last}, position + 1 + i)[0];
      }
    }
    return guesses;
  }

  /// Adds the tokens that the model chooses, up to the first that was not guessed; returns how many were.
  private int choose(float[][] xs, int[] guesses) {
    for (int i = 0;; i++) {
      float[] logits = sequence.logits(xs[i]);
      int token = Vectors.argMax(logits);
      generated.add(token, logits);
      if (i == guesses.length || token != guesses[i] || token == ByteTokenizer.END) {
        return i;
      }
    }
  }

  private int[] lastTokens(int count) {
    List<Integer> all = generated.tokens();
    return all.subList(all.size() - count, all.size()).stream().mapToInt(Integer::intValue).toArray();
  }
}
