package io.penstock.disagg.plan;

import io.penstock.block.BlockLayout;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.Plane.ElementType;
import io.penstock.disagg.plan.Manifest.Group;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/// Two sides and a request, drawn from a seed.
record Topology(Manifest prefill, Manifest decode, KvRequest request) {
  private static final int[] BLOCK_TOKENS = {1, 2, 3, 4, 6, 8, 16};

  static Topology draw(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int layers = 1 + random.nextInt(6);
    int draft = random.nextInt(4) == 0 ? 1 : 0;
    int[] heads = {random.nextInt(3) == 0 ? 1 : 1 + random.nextInt(8), 1 + random.nextInt(4)};
    boolean hybrid = random.nextInt(4) == 0;
    int window = hybrid ? 1 + random.nextInt(20) : 0;
    int prompt = random.nextInt(41);
    int cached = random.nextInt(3) == 0 ? random.nextInt(prompt + 1) : 0;
    return new Topology(side(random, layers, draft, heads, window), side(random, layers, draft, heads, window),
        new KvRequest("request-" + seed, prompt, cached));
  }

  /// @param window of a second group with every other layer; 0 for no such group
  private static Manifest side(SplittableRandom random, int layers, int draft, int[] heads, int window) {
    List<Group> groups = new ArrayList<>();
    List<Integer> all = IntStream.range(0, layers + draft).boxed().toList();
    groups.add(group(random, all.stream().filter(i -> window == 0 || i % 2 == 0).toList(), heads[0], 0));
    if (window > 0 && all.size() > 1) {
      groups.add(group(random, all.stream().filter(i -> i % 2 == 1).toList(), heads[1], window));
    }
    return Manifest.of("model", groups, parallelism(random, groups), draft);
  }

  private static Group group(SplittableRandom random, List<Integer> layers, int heads, int window) {
    int tokens = BLOCK_TOKENS[random.nextInt(BLOCK_TOKENS.length)];
    TokenOrder order = random.nextBoolean() ? TokenOrder.NHD : TokenOrder.HND;
    return new Group(BlockLayout.attention(layers.size(), tokens, heads, 2, ElementType.BF16).withOrder(order), layers,
        window);
  }

  private static Parallelism parallelism(SplittableRandom random, List<Group> groups) {
    int dcp = random.nextInt(3) == 0 ? 1 + random.nextInt(4) : 1;
    int tp = 1 + random.nextInt(dcp == 1 ? 9 : 3);
    for (Group group : dcp > 1 ? groups : List.<Group>of()) {
      tp *= group.heads(); // a multiple of all heads
    }
    int pp = random.nextInt(2) == 0 ? 1 : 1 + random.nextInt(4);
    int pcp = random.nextInt(3) == 0 ? 1 + random.nextInt(3) : 1;
    return new Parallelism(dcp == 1 ? tp : tp * dcp, pp, 1, pcp, dcp);
  }
}
