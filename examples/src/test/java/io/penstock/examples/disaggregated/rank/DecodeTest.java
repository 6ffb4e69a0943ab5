package io.penstock.examples.disaggregated.rank;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.penstock.disagg.plan.Parallelism;
import io.penstock.examples.disaggregated.model.LatentConfig;
import io.penstock.examples.disaggregated.model.Model;
import io.penstock.examples.disaggregated.model.ModelConfig;
import io.penstock.examples.disaggregated.model.SpeculativeConfig;
import io.penstock.examples.disaggregated.rank.NaiveModel.Facts;
import io.penstock.examples.disaggregated.tensors.SeededTensors;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class DecodeTest {
  private static final int NEW_TOKENS = 24;

  /// The tiled, cached, sharded computation is the textbook's but for rounding.
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void logits_areThoseOfTheTextbook(boolean latent) {
    ModelConfig config = latent ? ModelConfig.tinyLatent() : ModelConfig.tiny();
    Model model = Model.seeded(config, 5);
    int[] prompt = RandomDeployment.prompt(new SplittableRandom(5), 19);
    Deployment deployment = Deployment.of(model, new Parallelism(4, 2, 1, 2, 1), KvFormat.defaults());

    Facts facts = latent
        ? Facts.tiny(1e-6, NaiveModel.angles(10_000, 4)).withLatent(new LatentConfig(16, 4, 8, 8))
        : Facts.tiny(1e-5, NaiveModel.angles(10_000, 8));
    double[] expected = new NaiveModel(facts, new SeededTensors(5)).logits(prompt);

    try (Instance instance = new Instance(deployment, 1, 32); Sequence sequence = instance.open("request")) {
      float[] logits = Prefill.of(sequence, prompt).logits();
      for (int token = 0; token < expected.length; token++) {
        assertThat((double) logits[token]).as("token %d", token).isEqualTo(expected[token], within(1e-4));
      }
    }
  }

  /// Seeds whose draft head guesses right now and then, with grouped and with latent attention.
  @ParameterizedTest
  @CsvSource({"1,1", "1,3", "2,2", "3,5"})
  void draftHead_changesTheStepsAndNotTheTokens(long seed, int draftTokens) {
    ModelConfig config = seed % 2 == 0 ? ModelConfig.tinyLatent() : ModelConfig.tiny();
    Model model = Model.seeded(config, seed);

    Generated plain = run(model, 0);
    Generated drafted = run(model, draftTokens);

    assertThat(drafted.equalsBitwise(plain)).isTrue();
    assertThat(drafted.guessed()).isPositive();
    assertThat(drafted.steps()).isEqualTo(plain.steps() - drafted.accepted());
  }

  @Test
  void rightGuesses_areAccepted() {
    int accepted = 0;
    for (int seed = 1; seed <= 12; seed++) {
      accepted += run(Model.seeded(ModelConfig.tiny(), seed), 3).accepted();
    }
    assertThat(accepted).isPositive();
  }

  private static Generated run(Model model, int draftTokens) {
    int[] prompt = RandomDeployment.prompt(new SplittableRandom(9), 11);
    try (Instance instance = new Instance(Deployment.monolithic(model, KvFormat.defaults()), 1, 64);
        Sequence sequence = instance.open("request")) {
      Prefilled prefilled = Prefill.of(sequence, prompt);
      return Decode.of(sequence, new SpeculativeConfig(1, draftTokens), prompt.length, prefilled, NEW_TOKENS);
    }
  }
}
