package io.penstock.examples.disaggregated.rank;

import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.Plane.ElementType;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.plan.PlanRefusedException;
import io.penstock.examples.disaggregated.model.LatentConfig;
import io.penstock.examples.disaggregated.model.Model;
import io.penstock.examples.disaggregated.model.ModelConfig;
import io.penstock.examples.disaggregated.model.ModelFamily;
import io.penstock.examples.disaggregated.model.RotaryConfig;
import io.penstock.examples.disaggregated.model.RotaryConfig.Scaling;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

/// Deployments and models at random, each within the rules.
public final class RandomDeployment {
  private RandomDeployment() {}

  /// A model of 2 to 4 layers of any family, perhaps with biases, windows or a draft head.
  public static Model model(RandomGenerator random) {
    int kvHeads = oneOf(random, 1, 2, 4, 8);
    int heads = Math.max(kvHeads, oneOf(random, 4, 8));
    int layers = random.nextInt(2, 5);
    int headDim = oneOf(random, 4, 4, 8);
    ModelFamily family = pick(random, ModelFamily.LLAMA, ModelFamily.MISTRAL, ModelFamily.QWEN2, ModelFamily.QWEN3,
        ModelFamily.PHI3, ModelFamily.GLM);
    int window = oneOf(random, 0, 0, 3, 7);
    RotaryConfig rotary = new RotaryConfig(10_000, oneOf(random, 2, 4), random.nextBoolean(), Scaling.NONE);
    ModelConfig config = new ModelConfig(family, oneOf(random, 16, 32), layers, heads, kvHeads, headDim,
        oneOf(random, 16, 48), 258, 128, 1e-5f, rotary, random.nextBoolean(), random.nextBoolean(),
        window == 0 ? List.of() : IntStream.range(0, layers).mapToObj(layer -> layer % 2 * window).toList(),
        random.nextBoolean(), null, random.nextInt(2));
    boolean latent = random.nextInt(3) == 0;
    return Model.seeded(latent ? config.withLatent(new LatentConfig(12, 4, 6, 8)) : config, random.nextLong());
  }

  public static Deployment of(RandomGenerator random, Model model, ElementType type) {
    ModelConfig config = model.config();
    KvFormat format = new KvFormat(oneOf(random, 4, 8, 12, 16, 32), pick(random, TokenOrder.values()), type);
    List<Integer> tensorParts = IntStream.rangeClosed(1, 8).filter(tp -> config.heads() % tp == 0).boxed().toList();
    while (true) {
      try {
        int tp = tensorParts.get(random.nextInt(tensorParts.size()));
        Parallelism parallelism = new Parallelism(tp, random.nextInt(1, config.layers() + 1), 1,
            oneOf(random, 1, 1, 2, 3), oneOf(random, 1, 1, 2, 4));
        return Deployment.of(model, parallelism, format);
      } catch (PlanRefusedException e) { // a rule is broken: draw again
        continue;
      }
    }
  }

  public static int[] prompt(RandomGenerator random, int tokens) {
    return random.ints(tokens, 0, 258).toArray();
  }

  static int oneOf(RandomGenerator random, int... values) {
    return values[random.nextInt(values.length)];
  }

  @SafeVarargs
  public static <T> T pick(RandomGenerator random, T... values) {
    return values[random.nextInt(values.length)];
  }
}
