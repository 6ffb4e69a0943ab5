package io.penstock.node.sweep;

import io.penstock.block.EvictionPolicy;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.Flag;
import io.penstock.node.cli.Progress;
import io.penstock.node.cli.ReportFiles;
import io.penstock.node.config.Policies;
import io.penstock.node.option.PrefillOption;
import io.penstock.node.option.TraceLayout;
import io.penstock.node.setting.Capacity;
import io.penstock.node.shape.ModelSize;
import io.penstock.node.text.Json;
import io.penstock.node.trace.PeekedTrace;
import io.penstock.node.trace.TraceReading;
import io.penstock.node.trace.TraceSource;
import io.penstock.node.trace.Workload;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `penstock sweep`: policy × capacity over a trace.
@Command(
    name = "sweep",
    description = {"Counts the hits of eviction policies at several capacities, on a trace of requests.", "",
      "Each block of a request is touched if it is present, else inserted, in order, in one pool that is empty at"
          + " first. A hit is a block that is present when its turn comes. A prefix hit is a block of the longest"
          + " prefix of a request that is present when the request comes. No payload is made.",
      "",
      "Capacities are of the model: a block has as many bytes as its tokens take there.",
      ""},
    mixinStandardHelpOptions = true,
    modelTransformer = TraceLayout.Options.class,
    sortOptions = false,
    abbreviateSynopsis = true,
    footerHeading = "%nExamples:%n",
    footer = {"  penstock sweep conversation_trace.jsonl --model llama-3.1-70b",
      "  penstock sweep conversation_trace.jsonl --model qwen3-32b --capacities 512GiB,1TiB,2TiB,4TiB",
      "  penstock sweep trace.jsonl.gz --policies lru,arc --capacities 1k,10k --report sweep.html",
      "  penstock sweep --workloads all --policies lru,reuse_aware,adaptive --capacities 200", ""})
public final class SweepCommand implements Callable<Integer> {
  private static final Pattern COUNT = Pattern.compile("(\\d{1,18})([kM]?)");

  private final Console console;

  @Parameters(index = "0", paramLabel = "TRACE", arity = "0..1",
      description = TraceReading.FORMS + ".")
  private @Nullable Path file;

  @Mixin
  private final SweepWorkloads workloads = new SweepWorkloads();

  @Mixin
  private final TraceReading reading = new TraceReading();

  @Option(names = "--policies", paramLabel = "NAMES",
      description = "Policies, separated by commas: " + Policies.NAMES + " (default: all).")
  private @Nullable String policies;

  @Option(names = "--capacities", paramLabel = "CAPACITIES",
      description = "Capacities, separated by commas: numbers of blocks, where k stands for a thousand and M for a"
          + " million, or sizes of the model in MiB, GiB or TiB (default: ${DEFAULT-VALUE}).",
      defaultValue = "1k,5k,10k,30k,50k,100k")
  private String capacities = "";

  @Mixin
  private final PrefillOption prefill = new PrefillOption();

  @Mixin
  private final ReportFiles reports = new ReportFiles();

  @Option(names = "--json", description = "Print the results as a JSON array instead of a table.")
  private boolean json;

  @Spec
  private CommandSpec spec = CommandSpec.create();

  SweepCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    List<EvictionPolicy> compared = policies == null
        ? List.of(EvictionPolicy.values())
        : each("--policies", policies, name -> Policies.parse("--policies", name));
    List<Capacity> wanted = each("--capacities", capacities, SweepCommand::capacity);
    TraceLayout layout = Flag.named(() -> TraceLayout.of(spec));
    double rate = prefill.rate();
    reports.require();
    workloads.requireTogether();
    if (file == null) {
      reading.requireNone("without TRACE, for generated traces keep the form");
    }
    Function<ModelSize, Sweep> sweep = size -> new Sweep(compared, blocks(wanted, size));
    if (workloads.areNamed()) {
      compare(layout, rate, sweep);
    } else if (file == null) {
      throw new IllegalArgumentException("TRACE or --workloads must be given (was neither)");
    } else {
      show(outcome(TraceReading.name(file), reading.open(file, console), layout, rate, sweep));
    }
    return ExitCode.OK;
  }

  private SweepOutcome outcome(String name, TraceSource opened, TraceLayout layout, double rate,
      Function<ModelSize, Sweep> sweepOf) throws InterruptedException {
    SweepTrace trace;
    ModelSize size;
    try (PeekedTrace source = PeekedTrace.of(opened)) {
      size = layout.size(source.blockTokens(), rate);
      trace = SweepTrace.read(source, size.blockTokens());
    }
    return new SweepOutcome(name, size, trace.totals(), trace.knee(), run(sweepOf.apply(size), trace));
  }

  /// One table of the generated workloads, and of the trace if there is one.
  private void compare(TraceLayout layout, double rate, Function<ModelSize, Sweep> sweep)
      throws IOException, InterruptedException {
    if (reports.hasPages()) {
      throw new IllegalArgumentException("--report must end in .json with --workloads (was a page)");
    }
    Map<String, List<SweepResult>> results = new LinkedHashMap<>();
    for (Workload workload : workloads.named()) {
      results.put(workload.print(), outcome(workload.print(), workloads.open(workload), layout, rate, sweep).results());
    }
    if (file != null) {
      String name = TraceReading.name(Objects.requireNonNullElse(file.getFileName(), file));
      results.put(name, outcome(name, reading.open(file, console), layout, rate, sweep).results());
    }
    if (json) {
      console.json(results);
    } else {
      console.out().print(SweepMatrix.of(results));
    }
    console.requireHeard();
    reports.write(console, Json.of(results) + "\n", () -> "");
  }

  private void show(SweepOutcome outcome) {
    outcome.totals().doubt().ifPresent(console::say);
    if (json) {
      console.json(outcome.rows());
    } else {
      console.out().print(SweepTable.of(outcome));
    }
    console.requireHeard();
    reports.write(console, Json.of(outcome.rows()) + "\n", () -> SweepPage.of(outcome));
  }

  private List<SweepResult> run(Sweep sweep, SweepTrace trace) throws InterruptedException {
    try (Progress progress = Progress.of(console, "sweep", "runs")) {
      progress.at(0, sweep.runs());
      return sweep.run(trace, done -> progress.at(done, sweep.runs()));
    }
  }

  static <T> List<T> each(String flag, String list, Function<String, T> parse) {
    List<String> parts = Arrays.stream(list.split(",", -1)).map(String::strip).toList();
    int empty = parts.indexOf("");
    if (empty >= 0) {
      throw new IllegalArgumentException(
          "%s must have a value between commas (part %d of %s is empty)".formatted(flag, empty + 1, list));
    }
    List<T> values = parts.stream().map(parse).toList();
    requireDistinct(flag, values, list);
    return values;
  }

  private static void requireDistinct(String flag, List<?> values, String list) {
    if (values.stream().distinct().count() < values.size()) {
      throw new IllegalArgumentException(flag + " must be distinct (was " + list + ")");
    }
  }

  /// Capacities in blocks of the model.
  private List<Long> blocks(List<Capacity> wanted, ModelSize size) {
    List<Long> blocks = wanted.stream().map(capacity -> size.blocks("--capacities", capacity)).toList();
    requireDistinct("--capacities", blocks, capacities);
    return blocks;
  }

  /// A number of blocks such as `30k`, or a size such as `64GiB`.
  private static Capacity capacity(String text) {
    try {
      Matcher count = COUNT.matcher(text);
      Capacity capacity = count.matches()
          ? Capacity.ofBlocks(Math.multiplyExact(Long.parseLong(count.group(1)), unit(count.group(2))))
          : Capacity.parse(text);
      if (!capacity.isOff() && !capacity.equals(Capacity.UNBOUNDED)) {
        return capacity;
      }
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw refused(text, e);
    }
    throw refused(text, null);
  }

  private static long unit(String name) {
    return name.equals("k") ? 1_000 : name.equals("M") ? 1_000_000 : 1;
  }

  private static IllegalArgumentException refused(String text, @Nullable Exception cause) {
    return new IllegalArgumentException(
        "--capacities must be numbers of blocks > 0, such as 1000 or 30k, or sizes, such"
            + " as 64GiB (was " + text + ")",
        cause);
  }
}
