package io.penstock.lab.bench.cluster;

import io.penstock.lab.bench.cluster.ClusterBenchReport.Figure;
import io.penstock.lab.bench.cluster.ClusterBenchReport.Section;
import io.penstock.node.cli.Progress;
import io.penstock.node.text.Sizes;
import io.penstock.wire.cluster.tier.Spread;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.scheduler.Scheduler;

/// The requests of a trace, one after another, and the hits that one pool of the same size would have.
///
/// @param exact whether nodes and client decide exactly; then the hits must be equal
record TraceScenario(ClusterLoad load, boolean exact, Scheduler timers) implements Scenario {
  private static final int NODES = 8;
  private static final long DRAM = 2 << 20;
  private static final double LEAST_RATIO = 0.97;

  private List<String> flags(long dram) {
    return exact ? load.flags(dram, "--exact", "true") : load.flags(dram);
  }

  @Override
  public Section run(Path folder, Progress progress) throws IOException {
    Requests requests = load.prompts();
    int nodes = load.nodesOr(NODES);
    long dram = load.dramOr(DRAM);
    long loneHits = requests.hitsOfOneLru(nodes * (dram / load.blockBytes()));
    Outcome outcome = new Outcome();
    try (NodeGroup group = NodeGroup.start(folder, nodes, ClusterLoad.quick(), flags(dram));
        ClusterClient client =
            ClusterClient.connect(group.endpoints(), load.space(), 1, Spread.defaults().withExact(exact));
        RequestLoad engine = new RequestLoad(client, outcome, timers)) {
      AtomicInteger done = new AtomicInteger();
      engine.inTurn(requests.prompts())
          .doOnNext(hits -> progress.at(done.incrementAndGet(), requests.prompts().size())).blockLast();
      return new Section("trace",
          "%d requests of %,d blocks, %,d of them distinct; %d nodes of %s, blocks of %s%s%s".formatted(
              requests.prompts().size(), requests.blocks(), requests.distinct(), nodes, Sizes.human(dram),
              Sizes.human(load.blockBytes()), exact ? ", exact" : "", outcome.failed()),
          List.of(Figure.of("hits of the cluster", outcome.hits(), "blocks"),
              Figure.of("hits of one LRU", loneHits, "blocks"),
              exact
                  ? Figure.none("blocks more or less than that", Math.abs(outcome.hits() - loneHits))
                  : Figure.atLeast(LEAST_RATIO, "ratio", (double) outcome.hits() / Math.max(1, loneHits), ""),
              Figure.none("blocks with wrong bytes", client.wrong()),
              Figure.atLeast(1, "blocks compared", client.compared(), ""),
              Figure.none("failed requests", outcome.failures()),
              Figure.of("request, p50", outcome.nanos(0.5) / 1e6, "ms")));
    }
  }
}
