package io.penstock.examples.engine.transformer;

import io.penstock.block.CacheSpace;
import io.penstock.examples.disaggregated.model.ByteTokenizer;
import io.penstock.examples.disaggregated.model.Model;
import io.penstock.examples.disaggregated.model.ModelConfig;
import io.penstock.examples.disaggregated.model.ModelFamily;
import io.penstock.examples.disaggregated.model.RotaryConfig;
import io.penstock.examples.disaggregated.model.SpeculativeConfig;
import io.penstock.examples.disaggregated.rank.Decode;
import io.penstock.examples.disaggregated.rank.Deployment;
import io.penstock.examples.disaggregated.rank.Instance;
import io.penstock.examples.disaggregated.rank.KvFormat;
import io.penstock.examples.disaggregated.rank.Prefill;
import io.penstock.examples.disaggregated.rank.Sequence;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// The model that all engines of one seed have, in one rank each.
public final class ToyTransformer {
  static final int BLOCK_TOKENS = 16;

  private final String name;
  private final Deployment deployment;
  private final ToyText text = new ToyText();

  /// @param maxTokens most tokens of a prompt and its answer
  public ToyTransformer(long seed, int maxTokens) {
    ModelConfig config = new ModelConfig(ModelFamily.LLAMA, 32, 2, 4, 2, 8, 64, ByteTokenizer.TOKENS, maxTokens, 1e-5f,
        new RotaryConfig(10_000, 8, false, RotaryConfig.Scaling.NONE), false, false, List.of(), false, null, 0);
    this.name = "toy-" + seed;
    this.deployment = Deployment.monolithic(Model.seeded(config, seed), KvFormat.defaults());
  }

  /// Name of the model.
  public String name() {
    return name;
  }

  /// The space of its blocks.
  public CacheSpace space() {
    return deployment.shards().getFirst().space();
  }

  /// Tokens of a text.
  public int[] encode(String words) {
    return text.encode(words);
  }

  /// Text of tokens.
  public String decode(List<Integer> tokens) {
    ByteArrayOutputStream utf8 = new ByteArrayOutputStream();
    tokens.forEach(token -> utf8.writeBytes(text.bytes(token)));
    return utf8.toString(StandardCharsets.UTF_8);
  }

  Deployment deployment() {
    return deployment;
  }

  ToyText text() {
    return text;
  }

  int maxTokens() {
    return deployment.model().config().maxPositions();
  }

  /// The model in one process, without any cache: what the answers of engines are compared with.
  public final class Monolith implements AutoCloseable {
    private final Instance instance = new Instance(deployment, 1, maxTokens());

    /// The tokens after `prompt`, up to the one that ends the answer, which is not among them.
    public List<Integer> answer(int[] prompt, int tokens) {
      try (Sequence sequence = instance.open("monolith")) {
        List<Integer> answer = Decode.of(sequence, SpeculativeConfig.NONE, prompt.length, Prefill.of(sequence, prompt),
            tokens).tokens();
        return answer.getLast() == ByteTokenizer.END ? answer.subList(0, answer.size() - 1) : answer;
      }
    }

    @Override
    public void close() {
      instance.close();
    }
  }
}
