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
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import reactor.core.scheduler.Scheduler;

/// A node gives all its blocks to others, and then leaves, under load. It is the one that the clients ask first.
record DrainScenario(ClusterLoad load, Scheduler timers) implements Scenario {
  private static final int NODES = 4;
  private static final long DRAM = 128 << 20;
  /// Prompts that are there before the load.
  private static final int FILLED = 128;
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  @Override
  public Section run(Path folder, Progress progress) throws IOException {
    int nodes = load.nodesOr(NODES);
    long dram = load.dramOr(DRAM);
    Outcome outcome = new Outcome();
    try (NodeGroup group = NodeGroup.start(folder, nodes, ClusterLoad.quick(), load.flags(dram));
        ClusterClient client = ClusterClient.connect(group.endpoints().reversed(), load.space(), load.together());
        Observer observer = new Observer(load.space());
        RequestLoad engine = new RequestLoad(client, outcome, timers)) {
      List<List<BlockKey>> prompts = new ArrayList<>(engine.fill(FILLED, load.seed()));
      prompts.addAll(load.prompts().prompts());
      Collections.shuffle(prompts, new Random(load.seed()));
      engine.begin(prompts, load.together());
      Waiting.pass(load.time());
      progress.next("drain: it gives its blocks");
      NodeProcess drained = group.nodes().getLast();
      List<NodeProcess> others = group.nodes().subList(0, nodes - 1);
      Set<BlockKey> before = observer.held(drained, outcome.stored());
      int requestsBefore = outcome.requests();
      long began = System.nanoTime();
      ClusterTask end = ended(observer, drained);
      double seconds = Waiting.seconds(System.nanoTime() - began);
      int requestsDuring = outcome.requests() - requestsBefore;
      Waiting.pass(load.time());
      Set<BlockKey> left = observer.held(drained, outcome.stored());
      progress.next("drain: it leaves");
      int requestsBeforeEnd = outcome.requests();
      drained.stop();
      drained.awaitEnd();
      Waiting.pass(load.time());
      int requestsSince = outcome.requests() - requestsBeforeEnd;
      engine.end();
      List<BlockKey> gone = before.stream().filter(key -> !left.contains(key)).toList();
      return new Section("drain",
          "%d nodes of %s, blocks of %s, %d requests at a time; the task ended as %s%s%s".formatted(nodes,
              Sizes.human(dram), Sizes.human(load.blockBytes()), load.together(),
              end.state().name().toLowerCase(Locale.ROOT),
              end.problem().isEmpty() ? "" : ": " + end.problem(), outcome.failed()),
          List.of(Figure.of("requests", outcome.requests(), ""),
              Figure.of("of them during the task", requestsDuring, ""),
              Figure.atLeast(1, "since its end began", requestsSince, ""),
              Figure.none("failed requests", outcome.failures()),
              Figure.none("blocks with wrong bytes", client.wrong()),
              Figure.atLeast(1, "blocks compared", client.compared(), ""),
              Figure.of("blocks at the node before", before.size(), ""),
              Figure.none("blocks at the node at last", left.size()),
              Figure.none("blocks that are nowhere else",
                  before.size() - observer.held(others, List.copyOf(before)).size()),
              Figure.none("of its blocks, not found", gone.size() - client.present(gone).size()),
              Figure.none("task not done", end.state() == ClusterTask.State.DONE ? 0 : 1),
              Figure.of("blocks moved", end.blocks(), ""),
              Figure.of("time", seconds, "s"),
              Figure.of("rate", end.bytes() / 1e6 / seconds, "MB/s")));
    }
  }

  private static ClusterTask ended(Observer observer, NodeProcess drained) {
    AtomicReference<ClusterTask> task =
        new AtomicReference<>(observer.start(drained, TaskOrder.of(TaskOrder.Kind.DRAIN)));
    Waiting.until(PATIENCE,
        () -> task.updateAndGet(last -> observer.look(drained, last)).state() != ClusterTask.State.RUNNING);
    return task.get();
  }
}
