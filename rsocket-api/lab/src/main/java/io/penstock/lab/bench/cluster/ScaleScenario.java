package io.penstock.lab.bench.cluster;

import io.penstock.check.Checks;
import io.penstock.lab.bench.cluster.ClusterBenchReport.Figure;
import io.penstock.lab.bench.cluster.ClusterBenchReport.Section;
import io.penstock.lab.bench.cluster.scale.ScaleCosts;
import io.penstock.lab.bench.cluster.scale.ScaleModel;
import io.penstock.node.cli.Progress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/// What a match, a put and an announcement cost as the number of nodes grows, in a model under virtual time.
///
/// @param names of blocks that all nodes have
record ScaleScenario(ClusterLoad load, long names) implements Scenario {
  private static final int NODES = 1000;
  /// A node has a number of a port in the model.
  private static final int MOST_NODES = 1 << 15;
  private static final int STEP = 10;
  private static final int LEAST_PER_NODE = 64;
  private static final int WARM_NODES = 8;
  private static final long WARM_NAMES = 200_000;
  /// Growth by a tenth of a power: what keeps the cost less than doubled over three decades.
  private static final double MOST_EXPONENT = 0.1;

  @Override
  public Section run(Path folder, Progress progress) {
    int most = load.nodesOr(NODES);
    Checks.within("--nodes", most, MOST_NODES);
    if (most < 2 || names < (long) LEAST_PER_NODE * most) {
      throw new IllegalArgumentException("--names must be >= %d a node, of 2 nodes at least (was %d for %d)".formatted(
          LEAST_PER_NODE, names, most));
    }
    ScaleModel.run(WARM_NODES, Math.min(names, WARM_NAMES), load.requests(), load.seed());
    List<ScaleCosts> all = new ArrayList<>();
    for (int nodes : sizes(most)) {
      all.add(ScaleModel.run(nodes, names, load.requests(), load.seed()));
      progress.at(all.size(), sizes(most).size());
    }
    return new Section("scale",
        ("%,d names in a model under virtual time, calls of 16 blocks; processor time of all nodes concerned, without"
            + " that of the engine").formatted(names),
        figures(all));
  }

  /// A hundredth, a tenth and all of `most`.
  private static List<Integer> sizes(int most) {
    List<Integer> sizes = new ArrayList<>();
    for (int size = most; size > 1 && sizes.size() < 3; size /= STEP) {
      sizes.addFirst(size);
    }
    return sizes;
  }

  private static List<Figure> figures(List<ScaleCosts> all) {
    Map<String, ToDoubleFunction<ScaleCosts>> costs = new LinkedHashMap<>();
    costs.put("messages a match", each -> each.match().messages());
    costs.put("messages a put", each -> each.put().messages());
    costs.put("CPU-µs a match", each -> each.match().cpuMicros());
    costs.put("CPU-µs a put", each -> each.put().cpuMicros());
    costs.put("messages a name announced", each -> each.told().messages());
    costs.put("CPU-µs a name announced", each -> each.told().cpuMicros());
    costs.put("bytes a name", ScaleCosts::bytesPerName);
    List<Figure> figures = new ArrayList<>();
    costs.forEach((what, cost) -> {
      for (ScaleCosts each : all) {
        figures.add(Figure.of("%s, %,d nodes".formatted(what, each.nodes()), cost.applyAsDouble(each), ""));
      }
      for (int i = 1; i < all.size(); i++) {
        double exponent = all.get(i).exponent(all.get(i - 1), cost);
        String growth = "%s, exponent to %,d nodes".formatted(what, all.get(i).nodes());
        figures.add(i == all.size() - 1 && !what.contains("announced")
            ? Figure.atMost(MOST_EXPONENT, growth, exponent, "")
            : Figure.of(growth, exponent, ""));
      }
    });
    figures.add(Figure.none("answers that were wrong", all.stream().mapToLong(ScaleCosts::wrong).sum()));
    return figures;
  }
}
