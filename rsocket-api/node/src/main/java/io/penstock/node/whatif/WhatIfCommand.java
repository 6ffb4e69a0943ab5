package io.penstock.node.whatif;

import io.penstock.check.Checks;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.Flag;
import io.penstock.node.cli.OutputFile;
import io.penstock.node.cli.ReportFiles;
import io.penstock.node.cli.UnavailableException;
import io.penstock.node.link.HostPort;
import io.penstock.node.option.PrefillOption;
import io.penstock.node.option.SecurityOptions;
import io.penstock.node.option.TimeOption;
import io.penstock.node.option.TraceLayout;
import io.penstock.node.setting.Capacity;
import io.penstock.node.shape.ModelSize;
import io.penstock.node.text.Json;
import io.penstock.node.trace.PeekedTrace;
import io.penstock.node.trace.TraceReading;
import io.penstock.node.whatif.WhatIfAnswer.Space;
import io.penstock.pool.curve.WhatIf;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `penstock whatif`: the effect of more memory, for a running node or over a trace.
@Command(
    name = "whatif",
    description = {"Says what hit rate to expect with other capacities.",
      "",
      "Without TRACE it asks a running node, which estimates the curve of its own requests while it serves them "
          + "(setting whatif.samples). With TRACE it reads a trace, and shows the exact hit rates beside the "
          + "estimated ones.",
      "",
      "The curve is that of LRU, whatever the policy of the node. `penstock sweep` compares policies over a trace. "
          + "A node forgets slowly: a reference counts half after as many references as 16 times its capacity.",
      "",
      "Capacities over a TRACE are of the model: a block has as many bytes as its tokens take there.",
      ""},
    mixinStandardHelpOptions = true,
    modelTransformer = TraceLayout.Options.class,
    sortOptions = false,
    abbreviateSynopsis = true,
    footerHeading = "%nExamples:%n",
    footer = {"  penstock whatif --add 64GiB,128GiB", "  penstock whatif --space chat --svg chat.svg",
      "  penstock whatif --level dram --svg curve.svg",
      "  penstock whatif conversation_trace.jsonl --model llama-3.1-70b --dram 1TiB \\",
      "      --add 1TiB,3TiB --report whatif.html",
      "  penstock whatif trace.jsonl --dram \"30000 blocks\" --json", ""})
public final class WhatIfCommand implements Callable<Integer> {
  private static final int SAMPLES = 8192;

  private final Console console;

  @Parameters(arity = "0..1", paramLabel = "TRACE",
      description = TraceReading.FORMS + ". Without one, a running node is asked.")
  private @Nullable Path trace;

  @Mixin
  private final TraceReading reading = new TraceReading();

  @Option(names = "--admin", paramLabel = "HOST:PORT", converter = HostPort.Converter.class,
      description = "Admin endpoints of the node (default: 127.0.0.1:7780).")
  private @Nullable HostPort admin;

  @Mixin
  private SecurityOptions security = new SecurityOptions();

  @Option(names = "--space", paramLabel = "NAME",
      description = "One of several spaces of the node, by its name (default: all).")
  private @Nullable String named;

  @Option(names = "--timeout", paramLabel = "DURATION", defaultValue = "10s", converter = TimeOption.class,
      description = "Longest wait for an answer (default: ${DEFAULT-VALUE}).")
  private Duration timeout = Duration.ofSeconds(10);

  @Option(names = "--add", paramLabel = "CAPACITY", split = ",", converter = Added.class,
      description = "Capacity to add to a level: sizes, or numbers of blocks, with commas between them "
          + "(default: a half, the whole and three times the present capacity).")
  private List<Capacity> adds = List.of();

  @Option(names = "--level", paramLabel = "NAME", split = ",",
      description = "Levels to add to: hbm, dram, ssd (default: each alone).")
  private List<String> levels = List.of();

  @Option(names = "--hbm", paramLabel = "CAPACITY", converter = Added.class,
      description = "With TRACE: present capacity of device memory.")
  private @Nullable Capacity hbm;

  @Option(names = "--dram", paramLabel = "CAPACITY", converter = Added.class,
      description = "With TRACE: present capacity of host memory (default: an assumed tenth of the trace's different"
          + " blocks).")
  private @Nullable Capacity dram;

  @Option(names = "--ssd", paramLabel = "CAPACITY", converter = Added.class,
      description = "With TRACE: present capacity of the disk.")
  private @Nullable Capacity ssd;

  @Mixin
  private final PrefillOption prefill = new PrefillOption();

  @Option(names = "--samples", paramLabel = "N",
      description = "With TRACE: most sampled keys (default: 8192).")
  private @Nullable Integer samples;

  @Option(names = "--seed", paramLabel = "S", description = "With TRACE: seed of their choice (default: 1).")
  private @Nullable Long seed;

  @Option(names = "--svg", paramLabel = "FILE", description = "Draw the curve there.")
  private @Nullable Path svg;

  @Mixin
  private final ReportFiles reports = new ReportFiles();

  @Option(names = "--json", description = "Print the result for machines.")
  private boolean json;

  @Spec
  private CommandSpec spec = CommandSpec.create();

  WhatIfCommand(Console console) {
    this.console = console;
  }

  /// Reads a capacity that is neither nothing nor without bound.
  static final class Added implements ITypeConverter<Capacity> {
    @Override
    public Capacity convert(String text) {
      Capacity capacity = Capacity.parse(text);
      if (capacity.isOff() || capacity.equals(Capacity.UNBOUNDED)) {
        throw new IllegalArgumentException("capacity must be a size or \"N blocks\", above 0 (was " + text + ")");
      }
      return capacity;
    }
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    requireTogether();
    prefill.rate();
    reports.require();
    OutputFile chart = svg == null ? null : OutputFile.of("--svg", svg);
    return trace == null ? ofNode(chart) : ofTrace(trace, chart);
  }

  /// Refuses options that would otherwise be ignored without notice.
  private void requireTogether() {
    if (trace == null) {
      reading.requireNone("without TRACE, for no trace is read");
      requireLeftOut("--hbm", hbm, "without TRACE, for the node knows its capacity");
      requireLeftOut("--dram", dram, "without TRACE, for the node knows its capacity");
      requireLeftOut("--ssd", ssd, "without TRACE, for the node knows its capacity");
      TraceLayout.requireNone(spec, "without TRACE, for the node knows its blocks");
      requireLeftOut("--samples", samples, "without TRACE, for the node has its setting whatif.samples");
      requireLeftOut("--seed", seed, "without TRACE, for the node draws its own");
    } else {
      requireLeftOut("--admin", admin, "with TRACE, for no node is asked");
      requireLeftOut("--space", named, "with TRACE, for no node is asked");
    }
  }

  private static void requireLeftOut(String option, @Nullable Object value, String reason) {
    if (value != null) {
      throw new IllegalArgumentException(option + " must be left out " + reason + " (was " + value + ")");
    }
  }

  private int ofNode(@Nullable OutputFile chart) throws IOException, InterruptedException {
    HostPort address = admin == null ? new HostPort("127.0.0.1", 7780) : admin;
    WhatIfAnswer answer = AdminLink.whatIf(address, security.pass(console.environment()), timeout);
    List<Space> asked = asked(answer.spaces());
    if (asked.getFirst().whatIf().curve().rate() == 0) {
      throw new UnavailableException("whatif.samples must be > 0 in the node at " + address + " (was 0)");
    }
    requireLevels(asked.stream().flatMap(space -> space.whatIf().levels().stream()));
    if (chart != null && asked.size() > 1) {
      throw new IllegalArgumentException("--space must be given with --svg, for the node has several: %s (was left out)"
          .formatted(names(asked)));
    }
    show(new WhatIfReport(address.toString(), answer.policy(), asked.stream().map(space -> WhatIfReport
        .ofNode(space.tier(), space.whatIf(), space.size(prefill.rate()), steps())).toList()));
    if (chart != null) {
      Space space = asked.getFirst();
      draw(chart, new WhatIfChart(space.tier() + " at " + address, space.whatIf(), space.size(prefill.rate())));
    }
    return ExitCode.OK;
  }

  /// The spaces that `--space` names, or all.
  private List<Space> asked(List<Space> spaces) {
    List<Space> asked = spaces.stream().filter(space -> named == null || space.tier().equals(named)).toList();
    if (asked.isEmpty()) {
      throw new IllegalArgumentException("--space must be one of %s (was %s)".formatted(names(spaces), named));
    }
    return asked;
  }

  private static String names(List<Space> spaces) {
    return spaces.stream().map(Space::tier).collect(Collectors.joining(", "));
  }

  private int ofTrace(Path file, @Nullable OutputFile chart) throws IOException {
    TraceLayout layout = Flag.named(() -> TraceLayout.of(spec));
    int sampled = samples == null ? SAMPLES : Checks.positive("--samples", samples);
    ModelSize size;
    List<WhatIf.Level> given;
    TraceWhatIf read;
    try (PeekedTrace source = PeekedTrace.of(reading.open(file, console))) {
      size = layout.size(source.blockTokens(), prefill.rate());
      given = given(size);
      read = TraceWhatIf.of(source, size.blockTokens(), sampled, seed == null ? 1 : seed);
    }
    read.totals().doubt().ifPresent(console::say);
    WhatIf whatIf = new WhatIf(read.sampled(), false, given.isEmpty() ? assumed(read) : given);
    requireLevels(whatIf.levels().stream());
    String name = TraceReading.name(Objects.requireNonNullElse(file.getFileName(), file));
    WhatIfReport.Space space = WhatIfReport.ofTrace(name, whatIf, size, read, given.isEmpty(), steps());
    show(new WhatIfReport(TraceReading.name(file), WhatIfAnswer.POLICY, List.of(space)));
    if (chart != null) {
      draw(chart, new WhatIfChart(name, whatIf, size, read, given.isEmpty()));
    }
    return ExitCode.OK;
  }

  private CapacitySteps steps() {
    Map<String, Capacity> present = new HashMap<>();
    stated().forEach((level, capacity) -> {
      if (capacity != null) {
        present.put(level, capacity);
      }
    });
    return new CapacitySteps(adds, levels, present);
  }

  /// The levels whose capacities the options state.
  private List<WhatIf.Level> given(ModelSize size) {
    List<WhatIf.Level> given = new ArrayList<>();
    stated().forEach((level, capacity) -> {
      if (capacity != null) {
        given.add(new WhatIf.Level(level, size.blocks("--" + level, capacity)));
      }
    });
    return given;
  }

  /// Capacities of the levels as the options state them, fastest first; null for a level that no option states.
  private Map<String, @Nullable Capacity> stated() {
    Map<String, @Nullable Capacity> stated = new LinkedHashMap<>();
    stated.put("hbm", hbm);
    stated.put("dram", dram);
    stated.put("ssd", ssd);
    return stated;
  }

  /// A present capacity where none was given: steps need one to begin from.
  private static List<WhatIf.Level> assumed(TraceWhatIf read) {
    return List.of(new WhatIf.Level("dram", Math.max(1, read.totals().distinctBlocks() / 10)));
  }

  private void requireLevels(Stream<WhatIf.Level> there) {
    List<String> present = there.map(WhatIf.Level::name).distinct().toList();
    for (String level : levels) {
      if (trace != null && !present.contains(level) && stated().containsKey(level)) {
        throw new IllegalArgumentException(
            "--%s must be given with --level %s, for steps begin from its capacity (was left out)".formatted(level,
                level));
      }
      if (!present.contains(level)) {
        throw new IllegalArgumentException(
            "--level must be one of %s (was %s)".formatted(String.join(", ", present), level));
      }
    }
  }

  private void show(WhatIfReport report) {
    if (json) {
      console.json(report);
    } else {
      print(report);
    }
    reports.write(console, Json.of(report) + "\n", () -> WhatIfPage.of(report));
  }

  private void print(WhatIfReport report) {
    String between = "";
    for (WhatIfReport.Space space : report.spaces()) {
      if (space.curve().isEmpty()) {
        console.say(space.name() + " has had no references yet");
      } else if (!space.steps().isEmpty()) {
        console.out().print(between + new WhatIfTable(space));
        between = "\n";
      }
    }
    console.requireHeard();
  }

  private void draw(OutputFile file, WhatIfChart chart) throws IOException {
    file.write(chart.svg().getBytes(StandardCharsets.UTF_8));
    console.say("curve in " + file);
  }
}
