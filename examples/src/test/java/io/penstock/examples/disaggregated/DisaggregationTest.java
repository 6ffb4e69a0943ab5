package io.penstock.examples.disaggregated;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.Plane.ElementType;
import io.penstock.disagg.plan.KvRequest;
import io.penstock.disagg.plan.Planner;
import io.penstock.disagg.plan.Transfer;
import io.penstock.disagg.plan.TransferPlan;
import io.penstock.examples.disaggregated.model.Model;
import io.penstock.examples.disaggregated.model.SpeculativeConfig;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Prefill in one deployment and decode in another: each logit is that of one rank that does both, to the last bit.
final class DisaggregationTest {
  private static final int NEW_TOKENS = 4;
  private static final int PAIRS_A_MODEL = 50;

  @Test
  void randomPairs_giveTheBitsOfOneRank() {
    pairs(IntStream.range(0, 20));
  }

  @Tag("proof")
  @Test
  void manyRandomPairs_giveTheBitsOfOneRank() {
    pairs(IntStream.range(1_000, 1_200));
  }

  private static void pairs(IntStream seeds) {
    seeds.forEach(seed -> {
      RandomGenerator random = new SplittableRandom(seed);
      Model model = RandomDeployment.model(random);
      ElementType type = RandomDeployment.pick(random, ElementType.FP32, ElementType.FP16, ElementType.BF16);
      int[] prompt = RandomDeployment.prompt(random, random.nextInt(5, 30));
      Generated whole = monolithic(model, type, prompt);
      for (int number = 0; number < PAIRS_A_MODEL; number++) {
        Pair pair = new Pair("request " + number, RandomDeployment.of(random, model, type),
            RandomDeployment.of(random, model, type), random.nextInt(4) == 0 ? random.nextInt(prompt.length + 1) : 0,
            random.nextInt(1, prompt.length + 1), random.nextBoolean());
        Generated parts = pair.run(prompt, new Random(random.nextLong()));
        assertThat(parts.firstDifference(whole)).as("seed %d, pair %d, %s", seed, number, pair).isNegative();
        assertThat(parts.tokens()).isEqualTo(whole.tokens());
        assertThat(parts.accepted()).as("seed %d, pair %d: accepted guesses", seed, number)
            .isEqualTo(whole.accepted());
      }
    });
  }

  private static Generated monolithic(Model model, ElementType type, int[] prompt) {
    Deployment deployment = Deployment.monolithic(model, KvFormat.defaults().withType(type));
    try (Instance instance = new Instance(deployment, 1, prompt.length + NEW_TOKENS + 2);
        Sequence sequence = instance.open("whole")) {
      return decode(sequence, prompt, Prefill.of(sequence, prompt));
    }
  }

  private static Generated decode(Sequence sequence, int[] prompt, Prefilled prefilled) {
    int drafts = sequence.model().config().draftLayers() * 2;
    return Decode.of(sequence, new SpeculativeConfig(drafts / 2, drafts), prompt.length, prefilled, NEW_TOKENS);
  }

  /// @param cachedTokens of the prompt that decode has computed itself before
  /// @param chunkTokens of the prefill
  /// @param push whether each layer moves when it is computed, or all when decode asks
  private record Pair(String request, Deployment prefill, Deployment decode, int cachedTokens, int chunkTokens,
      boolean push) {
    Generated run(int[] prompt, Random random) {
      TransferPlan plan = new Planner(prefill.manifest(), decode.manifest())
          .plan(new KvRequest(request, prompt.length, cachedTokens));
      try (Instance prefills = new Instance(prefill, 1, prompt.length);
          Instance decodes = new Instance(decode, 1, prompt.length + NEW_TOKENS + 2);
          Sequence from = prefills.open(request);
          Sequence to = decodes.open(request)) {
        if (cachedTokens > 0) {
          Prefill.of(to, Arrays.copyOf(prompt, cachedTokens));
          to.finish(0); // a decode that has a prefix may still write into its last block
        }
        Prefilled prefilled = new Prefill(from, chunkTokens, layer -> {}).run(prompt);
        List<Transfer> transfers = new ArrayList<>(plan.transfers());
        Collections.shuffle(transfers, random);
        transfers.forEach(new InMemoryMover(from, to)::move);
        from.close();
        to.finish(prompt.length);
        return DisaggregationTest.decode(to, prompt, prefilled);
      }
    }
  }
}
