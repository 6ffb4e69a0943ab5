package io.penstock.lab.bench.cluster;

import io.penstock.block.BlockKey;
import io.penstock.lab.bench.cluster.ClusterBenchReport.Figure;
import io.penstock.lab.bench.cluster.ClusterBenchReport.Section;
import io.penstock.node.cli.Progress;
import io.penstock.node.text.Sizes;
import io.penstock.wire.cluster.ClusterTask;
import io.penstock.wire.cluster.TaskOrder;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;

/// All nodes are replaced under load, one after another: each gives its blocks to others, ends as SIGTERM ends it, and
/// starts again at its ports as the release of this program.
///
/// @param from launcher of the release that the nodes have at first; null for the release of this program
record UpgradeScenario(ClusterLoad load, @Nullable Path from, Scheduler timers) implements Scenario {
  private static final int NODES = 3;
  private static final long DRAM = 128 << 20;
  /// Prompts that are there before the load.
  private static final int FILLED = 32;
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  /// What the replacement of one node took.
  private record Replaced(boolean isDrained, boolean isSeen, long moved, double draining, double away, double whole) {}

  @Override
  public Section run(Path folder, Progress progress) throws IOException {
    int nodes = load.nodesOr(NODES);
    long dram = load.dramOr(DRAM);
    Outcome outcome = new Outcome();
    try (NodeGroup group = NodeGroup.start(folder, nodes, ClusterLoad.quick(), load.flags(dram), from);
        ClusterClient client = ClusterClient.connect(group.endpoints(), load.space(), load.together());
        Observer observer = new Observer(load.space());
        RequestLoad engine = new RequestLoad(client, outcome, timers)) {
      List<List<BlockKey>> prompts = new ArrayList<>(engine.fill(FILLED, load.seed()));
      prompts.addAll(load.prompts().prompts());
      Collections.shuffle(prompts, new Random(load.seed()));
      engine.begin(prompts, load.together());
      Waiting.pass(load.time());
      List<Replaced> all = new ArrayList<>();
      for (int i = 0; i < nodes; i++) {
        progress.next("upgrade: " + group.nodes().get(i).name());
        all.add(replaced(group, i, observer));
      }
      Waiting.pass(load.time());
      engine.end();
      List<BlockKey> stored = outcome.stored();
      Set<BlockKey> present = client.present(stored);
      Set<BlockKey> held = new HashSet<>(observer.held(group.nodes(), stored));
      return new Section("upgrade",
          "%d nodes of %s, blocks of %s, %d requests at a time, from %s%s".formatted(nodes, Sizes.human(dram),
              Sizes.human(load.blockBytes()), load.together(), from == null ? "this release to itself" : from,
              outcome.failed()),
          List.of(Figure.of("requests", outcome.requests(), ""),
              Figure.none("failed requests", outcome.failures()),
              Figure.none("blocks with wrong bytes", client.wrong()),
              Figure.atLeast(1, "blocks compared", client.compared(), ""),
              Figure.atLeast(1, "blocks put", stored.size(), ""),
              Figure.none("of them lost", stored.size() - held.size()),
              Figure.none("of them not found", stored.size() - present.size()),
              Figure.none("nodes that kept blocks", count(all, each -> !each.isDrained())),
              Figure.none("nodes that others did not see again", count(all, each -> !each.isSeen())),
              Figure.of("blocks that moved", all.stream().mapToLong(Replaced::moved).sum(), ""),
              Figure.of("longest move of a node's blocks", most(all, Replaced::draining), "s"),
              Figure.of("longest time without a node", most(all, Replaced::away), "s"),
              Figure.of("whole upgrade", all.stream().mapToDouble(Replaced::whole).sum(), "s")));
    }
  }

  private static Replaced replaced(NodeGroup group, int index, Observer observer) throws IOException {
    NodeProcess old = group.nodes().get(index);
    long began = System.nanoTime();
    ClusterTask task = observer.start(old, TaskOrder.of(TaskOrder.Kind.DRAIN));
    while (task.state() == ClusterTask.State.RUNNING && System.nanoTime() - began < PATIENCE.toNanos()) {
      Waiting.pass(Waiting.LOOK);
      task = observer.look(old, task);
    }
    long drained = System.nanoTime();
    observer.forget(old);
    group.replace(index);
    long back = System.nanoTime();
    Set<String> names = group.nodes().stream().map(NodeProcess::name).collect(Collectors.toSet());
    boolean isSeen = Waiting.until(PATIENCE,
        () -> group.nodes().stream().allMatch(node -> observer.members(node).equals(names)));
    return new Replaced(task.state() == ClusterTask.State.DONE, isSeen, task.blocks(),
        Waiting.seconds(drained - began), Waiting.seconds(back - drained), Waiting.seconds(System.nanoTime() - began));
  }

  private static long count(List<Replaced> all, Predicate<Replaced> which) {
    return all.stream().filter(which).count();
  }

  private static double most(List<Replaced> all, ToDoubleFunction<Replaced> what) {
    return all.stream().mapToDouble(what).max().orElse(0);
  }
}
