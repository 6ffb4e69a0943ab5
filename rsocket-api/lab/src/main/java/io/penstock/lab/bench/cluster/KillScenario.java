package io.penstock.lab.bench.cluster;

import io.penstock.block.BlockKey;
import io.penstock.lab.bench.cluster.ClusterBenchReport.Figure;
import io.penstock.lab.bench.cluster.ClusterBenchReport.Section;
import io.penstock.node.cli.Progress;
import io.penstock.node.text.Sizes;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import reactor.core.scheduler.Scheduler;

/// Two nodes are killed at the moment at which the others see a further one that joins, under load.
record KillScenario(ClusterLoad load, Scheduler timers) implements Scenario {
  private static final int NODES = 8;
  private static final int KILLED = 2;
  private static final long DRAM = 64 << 20;
  private static final double MOST_SEEN_SECONDS = 2;
  private static final double MOST_HIT_SECONDS = 3;
  private static final double MOST_FOUND_SECONDS = 5;
  /// Prompts that are there before the load.
  private static final int FILLED = 128;
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  @Override
  public Section run(Path folder, Progress progress) throws IOException {
    int nodes = load.nodesOr(NODES);
    long dram = load.dramOr(DRAM);
    Outcome outcome = new Outcome();
    try (NodeGroup group = NodeGroup.start(folder, nodes, ClusterLoad.quick(), load.flags(dram));
        ClusterClient client = ClusterClient.connect(group.endpoints(), load.space(), load.together());
        Observer observer = new Observer(load.space());
        RequestLoad engine = new RequestLoad(client, outcome, timers)) {
      List<NodeProcess> order = new ArrayList<>(group.nodes());
      Collections.shuffle(order, new Random(load.seed()));
      List<NodeProcess> killed = order.subList(0, KILLED);
      List<NodeProcess> survivors = order.subList(KILLED, nodes);
      List<List<BlockKey>> prompts = new ArrayList<>(engine.fill(FILLED, load.seed()));
      prompts.addAll(load.prompts().prompts());
      Collections.shuffle(prompts, new Random(load.seed()));
      engine.begin(prompts, load.together());
      Waiting.pass(load.time());
      progress.next("kill: one joins");
      NodeProcess joining = group.launch();
      joined(observer, survivors, joining);
      Set<String> dead = killed.stream().map(NodeProcess::name).collect(Collectors.toSet());
      List<BlockKey> before = outcome.stored();
      Set<BlockKey> safe = observer.located(survivors.getFirst(), before, dead);

      progress.next("kill: two are killed");
      long moment = System.nanoTime();
      killed.forEach(NodeProcess::kill);
      double seen = unseen(observer, survivors, dead, moment);
      Set<BlockKey> left = new HashSet<>();
      boolean isWhole = Waiting.until(PATIENCE, () -> {
        left.addAll(client.present(before));
        return left.containsAll(safe);
      });
      double whole = isWhole ? Waiting.seconds(System.nanoTime() - moment) : Double.POSITIVE_INFINITY;
      Set<BlockKey> held = observer.held(survivors, before);

      joining.awaitReady();
      Waiting.pass(load.time());
      engine.end();
      List<BlockKey> all = outcome.stored();
      Set<BlockKey> heldAtLast = observer.held(joining, all);
      int ofJoining = heldAtLast.size();
      heldAtLast.addAll(observer.held(survivors, all));
      Set<BlockKey> leftAtLast = client.present(all);
      long hit = outcome.firstHitAfter(moment);
      return new Section("kill",
          "%d nodes of %s, killed %s, blocks of %s, %d requests at a time%s".formatted(nodes, Sizes.human(dram),
              String.join(" and ", killed.stream().map(NodeProcess::name).sorted().toList()),
              Sizes.human(load.blockBytes()), load.together(), outcome.failed()),
          List.of(Figure.of("requests", outcome.requests(), ""),
              Figure.of("of them failed with a type", outcome.failures() - outcome.broken(), ""),
              Figure.none("of them ended in no such way", outcome.broken()),
              Figure.none("blocks with wrong bytes", client.wrong()),
              Figure.atLeast(1, "blocks compared", client.compared(), ""),
              Figure.of("blocks before", before.size(), ""),
              Figure.atMost(before.size() - (double) safe.size(), "blocks lost, of those only at the killed",
                  before.size() - (double) left.size(), ""),
              Figure.none("blocks of survivors not found at last", without(heldAtLast, leftAtLast).size()),
              Figure.none("blocks gone from survivors", without(safe, held).size()),
              Figure.atMost(MOST_SEEN_SECONDS, "until no survivor sees the killed", seen, "s"),
              Figure.atMost(MOST_FOUND_SECONDS, "until all blocks of survivors are found", whole, "s"),
              Figure.atMost(MOST_HIT_SECONDS, "until the first hit", Waiting.seconds(hit), "s"),
              Figure.atLeast(1, "blocks at the node that joined", ofJoining, "")));
    }
  }

  private static Set<BlockKey> without(Set<BlockKey> of, Set<BlockKey> others) {
    Set<BlockKey> rest = new HashSet<>(of);
    rest.removeAll(others);
    return rest;
  }

  private static void joined(Observer observer, List<NodeProcess> at, NodeProcess joining) throws IOException {
    if (!Waiting.until(PATIENCE,
        () -> at.stream().anyMatch(node -> observer.members(node).contains(joining.name())))) {
      throw new IOException("node %s must be a member within %d s (was not)".formatted(joining.name(),
          PATIENCE.toSeconds()));
    }
  }

  /// Seconds from `moment` until none of `survivors` sees one of the `dead`.
  private static double unseen(Observer observer, List<NodeProcess> survivors, Set<String> dead, long moment) {
    List<NodeProcess> open = new ArrayList<>(survivors);
    Waiting.until(PATIENCE, () -> {
      open.removeIf(node -> Collections.disjoint(observer.members(node), dead));
      return open.isEmpty();
    });
    return open.isEmpty() ? Waiting.seconds(System.nanoTime() - moment) : Double.POSITIVE_INFINITY;
  }
}
