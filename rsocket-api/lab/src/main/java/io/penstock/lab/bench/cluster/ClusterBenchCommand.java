package io.penstock.lab.bench.cluster;

import io.penstock.PenstockVersion;
import io.penstock.lab.bench.cluster.ClusterBenchReport.Section;
import io.penstock.lab.bench.side.Bench;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.Progress;
import io.penstock.node.cli.TemporaryFolder;
import io.penstock.node.option.SecondsOption;
import io.penstock.node.option.SizeOption;
import io.penstock.operator.LiveTimers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// `penstock bench cluster`: what a cluster of nodes shows.
@Command(
    name = "cluster",
    description = {"Shows what a cluster of nodes does, with nodes in processes of their own on this host.", "",
      "trace: the hits of a trace beside those of one pool as large as all nodes. kill: two nodes are killed and one"
          + " joins under load. drain: a node gives its blocks away and leaves under load. ssd: long prompts on disk"
          + " come back when all nodes start again. upgrade: all nodes are replaced one after another under load."
          + " small: blocks of 4 KiB in batches. split: nodes in network namespaces, of which one loses its cable;"
          + " skipped where this user cannot make any. scale: what calls cost as nodes become more, in a model in"
          + " this process. Every byte that is read is compared.",
      "",
      "Exits with 1 if a bound is missed; with 74 if nothing could be measured.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExamples:%n",
    footer = {"  penstock bench cluster --scenario trace --trace conversation_trace.jsonl --requests 2000",
      "  penstock bench cluster --scenario upgrade --from ../penstock-1.0/penstock", ""})
public final class ClusterBenchCommand extends Bench<ClusterBenchReport> {
  private static final String ALL = "all";

  @Option(names = "--scenario", paramLabel = "NAMES", split = ",",
      description = "trace, kill, drain, upgrade, ssd, small, split, scale, or all (default: all).")
  private List<String> scenarios = List.of(ALL);

  @Option(names = "--nodes", paramLabel = "N",
      description = "Nodes (default: 8 for trace and kill, 4 for drain, up to 1000 for scale, 3 for the others).")
  private @Nullable Integer nodes;

  @Option(names = "--block", paramLabel = "SIZE", converter = SizeOption.class,
      description = "Bytes of a block (default: ${DEFAULT-VALUE}).", defaultValue = "4KiB")
  private long blockBytes;

  @Option(names = "--dram", paramLabel = "SIZE", converter = SizeOption.class,
      description = "Blocks that a node keeps in memory (default: as the scenario needs).")
  private @Nullable Long dram;

  @Option(names = "--trace", paramLabel = "FILE",
      description = "Trace of trace, kill, drain and upgrade, as 'penstock replay' reads it (default: one is made).")
  private @Nullable Path trace;

  @Option(names = "--exact",
      description = "In trace, nodes and client decide as one pool would, and the hits must be equal.")
  private boolean exact;

  @Option(names = "--requests", paramLabel = "N",
      description = "Most requests of the trace; calls of each kind in scale (default: ${DEFAULT-VALUE}).",
      defaultValue = "1000")
  private int requests;

  @Option(names = "--concurrency", paramLabel = "N",
      description = "Requests under way at a time in kill, drain, upgrade and small (default: ${DEFAULT-VALUE}).",
      defaultValue = "4")
  private int concurrency;

  @Option(names = "--seconds", paramLabel = "TIME", converter = SecondsOption.class,
      description = "Time of load before and after what happens in kill, drain and upgrade, such as 10, 0.5 or 10s"
          + " (default: ${DEFAULT-VALUE}).",
      defaultValue = "10")
  private Duration seconds = Duration.ZERO;

  @Option(names = "--tokens", paramLabel = "N",
      description = "Tokens of a prompt of ssd (default: ${DEFAULT-VALUE}).", defaultValue = "50000")
  private int tokens;

  @Option(names = "--rounds", paramLabel = "N", description = "Rounds of small (default: ${DEFAULT-VALUE}).",
      defaultValue = "5")
  private int rounds;

  @Option(names = "--names", paramLabel = "N",
      description = "Names of blocks in scale; 100000000 take 2.5 GB (default: ${DEFAULT-VALUE}).",
      defaultValue = "1000000")
  private long names;

  @Option(names = "--seed", paramLabel = "S",
      description = "Seed of the trace, and of the nodes that are killed (default: ${DEFAULT-VALUE}).",
      defaultValue = "1")
  private long seed;

  @Option(names = "--from", paramLabel = "LAUNCHER",
      description = "Launcher ('penstock') of the release that the nodes of upgrade have at first (default: this one).")
  private @Nullable Path from;

  @Option(names = "--keep", paramLabel = "DIR", description = "Keep the logs and disks of the nodes there.")
  private @Nullable Path kept;

  public ClusterBenchCommand(Console console) {
    super(console);
  }

  @Override
  protected ClusterBenchReport measured() throws IOException {
    ClusterLoad load = new ClusterLoad(nodes, Math.toIntExact(blockBytes), dram, trace, requests, concurrency,
        SecondsOption.positive("--seconds", seconds), tokens, rounds, seed);
    Scheduler timers = LiveTimers.of(Schedulers.newSingle("penstock-bench-timers", true));
    Map<String, Scenario> chosen = chosen(load, timers);
    List<Section> sections = new ArrayList<>();
    try (TemporaryFolder place = TemporaryFolder.create("penstock-bench-");
        Progress progress = Progress.of(console, "bench cluster", "requests")) {
      for (Map.Entry<String, Scenario> each : chosen.entrySet()) {
        progress.next(each.getKey());
        Path folder = Files.createDirectories((kept == null ? place.path() : kept).resolve(each.getKey()));
        sections.add(each.getValue().run(folder, progress));
      }
    } finally {
      timers.dispose();
    }
    return new ClusterBenchReport(PenstockVersion.current(), sections);
  }

  private Map<String, Scenario> chosen(ClusterLoad load, Scheduler timers) {
    Map<String, Scenario> all = new LinkedHashMap<>();
    all.put("trace", new TraceScenario(load, exact, timers));
    all.put("kill", new KillScenario(load, timers));
    all.put("drain", new DrainScenario(load, timers));
    all.put("upgrade", new UpgradeScenario(load, from, timers));
    all.put("ssd", new SsdScenario(load));
    all.put("small", new SmallScenario(load));
    all.put("split", new SplitScenario(load, timers));
    all.put("scale", new ScaleScenario(load, names));
    for (String name : scenarios) {
      if (!name.equals(ALL) && !all.containsKey(name)) {
        throw new IllegalArgumentException("--scenario must be of %s, %s (was %s)".formatted(
            String.join(", ", all.keySet()), ALL, name));
      }
    }
    if (!scenarios.contains(ALL)) {
      all.keySet().retainAll(scenarios);
    }
    return all;
  }
}
