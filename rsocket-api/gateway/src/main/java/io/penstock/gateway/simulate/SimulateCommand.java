package io.penstock.gateway.simulate;

import io.penstock.gateway.choice.Policy;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.Flag;
import io.penstock.node.cli.Progress;
import io.penstock.node.text.Plural;
import io.penstock.node.text.TextTable;
import io.penstock.node.trace.GeneratorOptions;
import io.penstock.node.trace.PeekedTrace;
import io.penstock.node.trace.TraceReading;
import io.penstock.node.trace.TraceRequest;
import io.penstock.node.trace.TraceSource;
import io.penstock.node.trace.Workload;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `penstock gateway simulate`: policies of choice over a trace.
@Command(
    name = "simulate",
    description = {"Plays a trace on model instances in virtual time, under each policy of choice.", "",
      "The router is the one of the gateway. An instance is a model: an LRU cache of blocks, and prompts that are"
          + " computed one after another. A hit is a leading block of a prompt that is in the cache of its instance"
          + " when the prompt's turn comes.",
      ""},
    mixinStandardHelpOptions = true,
    sortOptions = false,
    abbreviateSynopsis = true,
    footerHeading = "%nExamples:%n",
    footer = {"  penstock gateway simulate conversation_trace.jsonl",
      "  penstock gateway simulate --workload agents --instances 8 --capacity 4000", ""})
public final class SimulateCommand implements Callable<Integer> {
  private final Console console;

  @Parameters(index = "0", paramLabel = "TRACE", arity = "0..1", description = TraceReading.FORMS + ".")
  private @Nullable Path file;

  @Option(names = "--workload", paramLabel = "NAME",
      description = "Generate a trace in the place of TRACE: " + Workload.NAMES + ".")
  private @Nullable String workload;

  @Option(names = "--requests", paramLabel = "N",
      description = "Requests that are played at most; of a generated trace its length (default: all; 6000).")
  private @Nullable Integer requests;

  @Option(names = "--seed", paramLabel = "S", defaultValue = "1",
      description = "Seed of all draws (default: ${DEFAULT-VALUE}).")
  private long seed;

  @Option(names = "--instances", paramLabel = "N", defaultValue = "8",
      description = "Instances (default: ${DEFAULT-VALUE}).")
  private int instances;

  @Option(names = "--capacity", paramLabel = "BLOCKS", defaultValue = "4000",
      description = "Blocks in the cache of each instance (default: ${DEFAULT-VALUE}).")
  private long capacity;

  @Option(names = "--prefill-rate", paramLabel = "N", defaultValue = "10000",
      description = "Tokens that an instance computes a second (default: ${DEFAULT-VALUE}).")
  private double prefillRate;

  @Option(names = "--load-rate", paramLabel = "N", defaultValue = "1000000",
      description = "Tokens in its cache that an instance takes over a second (default: ${DEFAULT-VALUE}).")
  private double loadRate;

  @Option(names = "--lag", paramLabel = "MS", defaultValue = "50",
      description = "Milliseconds until an event of an instance reaches the gateway (default: ${DEFAULT-VALUE}).")
  private long lag;

  @Option(names = "--speed", paramLabel = "X", defaultValue = "1",
      description = "Speed of the trace (default: ${DEFAULT-VALUE}, as recorded).")
  private double speed;

  @Mixin
  private final TraceReading reading = new TraceReading();

  @Option(names = "--json", description = "Print the results as a JSON array instead of a table.")
  private boolean json;

  public SimulateCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() {
    if ((file == null) == (workload == null)) {
      throw new IllegalArgumentException(
          "TRACE or --workload must be given (was %s)".formatted(file == null ? "neither" : "both"));
    }
    FleetOptions options = Flag.named(() -> new FleetOptions(instances, capacity, prefillRate, loadRate,
        Duration.ofMillis(20), Duration.ofMillis(lag), speed, seed));
    int blockTokens;
    List<Fleet.Request> all = new ArrayList<>();
    String name = workload == null && file != null ? TraceReading.name(file) : String.valueOf(workload);
    try (PeekedTrace source = PeekedTrace.of(open())) {
      blockTokens = source.blockTokens();
      for (TraceRequest request = source.next(); request != null
          && (requests == null || all.size() < requests); request = source.next()) {
        all.add(new Fleet.Request(request.timestampMillis(), request.inputTokens(), request.outputTokens(),
            Fleet.names(request.hashIds())));
      }
    }
    List<FleetResult> results = results(options, blockTokens, all);
    if (json) {
      console.json(results);
    } else {
      console.out().print(table(name, all, results));
    }
    return ExitCode.OK;
  }

  private TraceSource open() {
    if (workload != null) {
      int made = requests == null ? 6000 : requests;
      return Workload.parse("--workload", workload).open(Flag.named(() -> new GeneratorOptions(made, seed)));
    }
    return reading.open(java.util.Objects.requireNonNull(file), console);
  }

  private List<FleetResult> results(FleetOptions options, int blockTokens, List<Fleet.Request> all) {
    List<SimulatedPolicy> rows = new ArrayList<>();
    for (Policy policy : Policy.values()) {
      rows.add(SimulatedPolicy.of(policy));
    }
    rows.add(SimulatedPolicy.silent());
    rows.add(SimulatedPolicy.POOLED);
    try (Progress progress = Progress.of(console, "simulate", "policies")) {
      progress.at(0, rows.size() + 1);
      FleetResult oracle = new Fleet(options, SimulatedPolicy.ORACLE, blockTokens).play(all, 0);
      List<FleetResult> results = new ArrayList<>();
      for (SimulatedPolicy row : rows) {
        progress.at(results.size() + 1, rows.size() + 1);
        results.add(new Fleet(options, row, blockTokens).play(all, oracle.hitBlocks()));
      }
      results.add(results.size() - 1, oracle);
      progress.at(rows.size() + 1, rows.size() + 1);
      return results;
    }
  }

  private String table(String name, List<Fleet.Request> all, List<FleetResult> results) {
    TextTable table = new TextTable("POLICY", "HITS", "RATE", "OF ORACLE", "TTFT P50", "P99", "MOST LOADED");
    for (FleetResult result : results) {
      table.row(result.policy(), result.hitBlocks(), String.format(Locale.ROOT, "%.2f %%", 100 * result.hitRate()),
          String.format(Locale.ROOT, "%.3f", result.reuse()), String.format(Locale.ROOT, "%.0f ms", result.p50Millis()),
          String.format(Locale.ROOT, "%.0f ms", result.p99Millis()),
          String.format(Locale.ROOT, "%.2f ×", result.mostLoaded()));
    }
    return TextTable.wrapped("%s: %s on %s, seed %d.".formatted(name, Plural.of(all.size(), "request"),
        Plural.of(instances, "instance"), seed), 0) + "\n"
        + TextTable.wrapped("The oracle knows every cache and sends each prompt where most of it is, whatever waits"
            + " there. One cache has the room of all.", 0)
        + "\n\n" + table;
  }
}
