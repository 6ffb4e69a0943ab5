package io.penstock.examples.disaggregated.rank;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Plane.ElementType;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.plan.PlanRefusedException;
import io.penstock.examples.disaggregated.model.LatentConfig;
import io.penstock.examples.disaggregated.model.Model;
import io.penstock.examples.disaggregated.model.ModelConfig;
import io.penstock.examples.disaggregated.model.SpeculativeConfig;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// However a model is split, each logit is the same to the last bit.
final class DeploymentTest {
  private static final int NEW_TOKENS = 4;
  private static final int SPLITS_A_MODEL = 50;

  @Test
  void randomSplits_giveTheBitsOfOneRank() {
    splits(IntStream.range(0, 4));
  }

  @Tag("proof")
  @Test
  void manyRandomSplits_giveTheBitsOfOneRank() {
    splits(IntStream.range(1_000, 1_200));
  }

  private static void splits(IntStream seeds) {
    seeds.forEach(seed -> {
      RandomGenerator random = new SplittableRandom(seed);
      Model model = RandomDeployment.model(random);
      ElementType type = RandomDeployment.pick(random, ElementType.FP32, ElementType.FP16, ElementType.BF16);
      int[] prompt = RandomDeployment.prompt(random, random.nextInt(5, 30));
      Generated whole =
          run(Deployment.monolithic(model, KvFormat.defaults().withType(type)), prompt, Integer.MAX_VALUE);
      for (int split = 0; split < SPLITS_A_MODEL; split++) {
        Deployment deployment = RandomDeployment.of(random, model, type);
        Generated parts = run(deployment, prompt, random.nextInt(1, prompt.length + 1));
        assertThat(parts.firstDifference(whole)).as("seed %d, split %d, %s", seed, split, deployment).isNegative();
        assertThat(parts.tokens()).isEqualTo(whole.tokens());
        assertThat(parts.accepted()).as("seed %d, split %d: accepted guesses", seed, split)
            .isEqualTo(whole.accepted());
      }
    });
  }

  private static Generated run(Deployment deployment, int[] prompt, int chunkTokens) {
    ModelConfig model = deployment.model().config();
    int drafts = model.draftLayers() == 0 ? 0 : 2;
    try (Instance instance = new Instance(deployment, 1, prompt.length + NEW_TOKENS + drafts);
        Sequence sequence = instance.open("request")) {
      Prefilled prefilled = new Prefill(sequence, Pace.chunks(chunkTokens), PrefillSteps.NONE).run(prompt);
      return Decode.of(sequence, new SpeculativeConfig(model.draftLayers(), drafts), prompt.length, prefilled,
          NEW_TOKENS);
    }
  }

  @Test
  void otherWeights_areSeenInTheBits() {
    ModelConfig config = ModelConfig.tiny();
    int[] prompt = RandomDeployment.prompt(new SplittableRandom(1), 20);

    Generated one = run(Deployment.monolithic(Model.seeded(config, 1), KvFormat.defaults()), prompt, 20);
    Generated other = run(Deployment.monolithic(Model.seeded(config, 2), KvFormat.defaults()), prompt, 20);

    assertThat(one.firstDifference(other)).isZero();
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|',
      value = {"3|1|1|1|tp must divide the 8 query heads (was 3)", "1|5|1|1|pp must be <= the 4 layers (was 5)",
        "1|1|0|1|pcp must be > 0 (was 0)"})
  void splitThatCannotBe_isRefused(int tp, int pp, int pcp, int dcp, String rule) {
    assertThatThrownBy(
        () -> Deployment.of(Model.seeded(ModelConfig.tiny(), 1), new Parallelism(tp, pp, 1, pcp, dcp),
            KvFormat.defaults()))
        .isInstanceOf(IllegalArgumentException.class).hasMessage(rule);
  }

  @Test
  void ranksWithOtherHeads_cannotShareTokens() {
    assertThatThrownBy(() -> Deployment.of(Model.seeded(ModelConfig.tiny(), 1), new Parallelism(8, 1, 1, 1, 4),
        KvFormat.defaults())).isInstanceOf(PlanRefusedException.class).hasMessageContaining("dcp");
  }

  @Test
  void shards_coverEachLayerHeadAndTokenOnce_orReplicateHeads() {
    ModelConfig model = ModelConfig.tiny();
    Deployment deployment =
        Deployment.of(Model.seeded(model, 1), new Parallelism(8, 2, 1, 2, 2), KvFormat.defaults());
    int[][] holders = new int[model.cachedLayers() * model.kvHeads()][96];
    for (Shard shard : deployment.shards()) {
      for (int layer = shard.firstLayer(); layer < shard.endLayer(); layer++) {
        for (int head = shard.firstKvHead(); head < shard.endKvHead(); head++) {
          for (int token = 0; token < 96; token++) {
            holders[layer * model.kvHeads() + head][token] += shard.hasToken(token) ? 1 : 0;
          }
        }
      }
    }
    assertThat(List.of(holders)).allSatisfy(tokens -> assertThat(tokens).containsOnly(1));
  }

  @Test
  void eachRank_keepsItsShareAndNoMore() {
    ModelConfig config = ModelConfig.tiny().withLatent(new LatentConfig(16, 4, 8, 8));
    Model model = Model.seeded(config, 3);
    Deployment deployment = Deployment.of(model, new Parallelism(4, 2, 1, 2, 4), KvFormat.defaults());
    try (Instance instance = new Instance(deployment, 1, 128)) {
      try (Sequence sequence = instance.open("request")) {
        Prefill.of(sequence, RandomDeployment.prompt(new SplittableRandom(1), 128));
        assertThat(instance.claimedBlocks()).as("8 context parts share 8 blocks, in each of 2 stages").isEqualTo(16);
      }
      assertThat(instance.claimedBlocks()).isZero();
    }
  }

  /// The numbers of a rank are counted by hand.
  @ParameterizedTest
  @CsvSource({"1,1,0,145248", "2,1,0,75264", "2,1,1,75264", "8,1,0,16032", "8,1,1,27552", "4,2,0,12480", "4,2,4,21984"})
  void eachRank_hasItsShareOfTheWeights(int tp, int pp, int rank, long numbers) {
    Model model = Model.seeded(ModelConfig.tiny(), 1);
    try (Instance instance = new Instance(Deployment.of(model, Parallelism.ofTp(tp).withPp(pp), KvFormat.defaults()), 1,
        16)) {
      assertThat(instance.weightBytes()).hasSize(tp * pp);
      assertThat(instance.weightBytes().get(rank)).isEqualTo(4 * numbers);
    }
  }
}
