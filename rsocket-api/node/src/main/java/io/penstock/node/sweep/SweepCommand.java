package io.penstock.node.sweep;

import io.penstock.block.EvictionPolicy;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.Progress;
import io.penstock.node.cli.ReportFiles;
import io.penstock.node.config.Policies;
import io.penstock.node.text.Json;
import io.penstock.node.trace.TraceReader;
import io.penstock.node.trace.Workload;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `penstock sweep`: policy × capacity over a trace.
@Command(
    name = "sweep",
    description = {"Counts the hits of eviction policies at several capacities, on a trace of requests.", "",
      "Each block of a request is touched if it is present, else inserted, in order, in one pool that is empty at"
          + " first. A hit is a block that is present when its turn comes. A prefix hit is a block of the longest"
          + " prefix of a request that is present when the request comes. No payload is made.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExamples:%n",
    footer = {"  penstock sweep conversation_trace.jsonl",
      "  penstock sweep trace.jsonl.gz --policies lru,arc --capacities 1k,10k --report sweep.html",
      "  penstock sweep --workloads all --policies lru,reuse_aware,adaptive", ""})
public final class SweepCommand implements Callable<Integer> {
  private final Console console;

  @Parameters(index = "0", paramLabel = "TRACE", arity = "0..1",
      description = "JSONL in the Mooncake or Qwen-Bailian form, also packed (.gz).")
  private @Nullable Path file;

  @Mixin
  private final SweepWorkloads workloads = new SweepWorkloads();

  @Option(names = "--policies", paramLabel = "NAMES",
      description = "Policies, separated by commas: " + Policies.NAMES + " (default: all).")
  private @Nullable String policies;

  @Option(names = "--capacities", paramLabel = "BLOCKS",
      description = "Capacities in blocks, separated by commas; k stands for a thousand, M for a million (default:"
          + " ${DEFAULT-VALUE}).",
      defaultValue = "1k,5k,10k,30k,50k,100k")
  private String capacities = "";

  @Mixin
  private final ReportFiles reports = new ReportFiles();

  @Option(names = "--json", description = "Print the results as a JSON array instead of a table.")
  private boolean json;

  SweepCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    Sweep sweep = new Sweep(policies == null
        ? List.of(EvictionPolicy.values())
        : each("--policies", policies, name -> Policies.parse("--policies", name)),
        each("--capacities", capacities, SweepCommand::capacity));
    reports.require();
    if (workloads.areNamed()) {
      return matrix(sweep);
    }
    if (file == null) {
      throw new IllegalArgumentException("TRACE or --workloads must be given (was neither)");
    }
    SweepTrace trace = read(file);
    List<SweepResult> results = run(sweep, trace);
    if (json) {
      console.json(results);
    } else {
      console.out().print(SweepTable.of(results));
    }
    console.requireHeard();
    reports.write(console, Json.of(results) + "\n", () -> SweepPage.of(file.toString(), trace, sweep, results));
    return ExitCode.OK;
  }

  /// One table of the generated workloads, and of the trace if there is one.
  private int matrix(Sweep sweep) throws InterruptedException {
    if (reports.hasPages()) {
      throw new IllegalArgumentException("--report must be left out, or end in .json, with --workloads (was a page)");
    }
    Map<String, List<SweepResult>> results = new LinkedHashMap<>();
    for (Workload workload : workloads.named()) {
      results.put(workload.print(), run(sweep, workloads.trace(workload)));
    }
    if (file != null) {
      results.put(file.getFileName().toString(), run(sweep, read(file)));
    }
    if (json) {
      console.json(results);
    } else {
      console.out().print(SweepMatrix.of(sweep, results));
    }
    console.requireHeard();
    reports.write(console, Json.of(results) + "\n", () -> "");
    return ExitCode.OK;
  }

  private static SweepTrace read(Path file) {
    try (TraceReader reader = TraceReader.open(file)) {
      return SweepTrace.read(reader);
    }
  }

  private List<SweepResult> run(Sweep sweep, SweepTrace trace) throws InterruptedException {
    try (Progress progress = Progress.of(console, "sweep", "runs")) {
      progress.at(0, sweep.runs());
      return sweep.run(trace, done -> progress.at(done, sweep.runs()));
    }
  }

  static <T> List<T> each(String flag, String list, Function<String, T> parse) {
    List<T> values = Arrays.stream(list.split(",", -1)).map(String::strip).map(parse).toList();
    if (values.stream().distinct().count() < values.size()) {
      throw new IllegalArgumentException(flag + " must be distinct (was " + list + ")");
    }
    return values;
  }

  private static long capacity(String text) {
    try {
      long unit = text.endsWith("k") ? 1_000 : text.endsWith("M") ? 1_000_000 : 1;
      long blocks = Math.multiplyExact(Long.parseLong(unit == 1 ? text : text.substring(0, text.length() - 1)), unit);
      if (blocks > 0) {
        return blocks;
      }
    } catch (NumberFormatException | ArithmeticException e) {
      throw refused(text, e);
    }
    throw refused(text, null);
  }

  private static IllegalArgumentException refused(String text, @Nullable Exception cause) {
    return new IllegalArgumentException("--capacities must be numbers of blocks > 0, such as 1000 or 30k (was " + text
        + ")", cause);
  }
}
