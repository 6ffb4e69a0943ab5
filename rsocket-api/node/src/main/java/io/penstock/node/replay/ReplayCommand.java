package io.penstock.node.replay;

import io.penstock.block.CacheSpace;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.Flag;
import io.penstock.node.cli.Folders;
import io.penstock.node.cli.LastWord;
import io.penstock.node.cli.ReportFiles;
import io.penstock.node.cli.UnavailableException;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.link.ClusterLink;
import io.penstock.node.link.NodeAddress;
import io.penstock.node.link.OtherShape;
import io.penstock.node.option.PrefillOption;
import io.penstock.node.option.RecordOptions;
import io.penstock.node.option.SizeOption;
import io.penstock.node.option.TierRecordOptions;
import io.penstock.node.option.TraceLayout;
import io.penstock.node.party.ConnectedParties;
import io.penstock.node.party.FlowPlan;
import io.penstock.node.party.GroupParties;
import io.penstock.node.party.LoopbackParties;
import io.penstock.node.party.Parties;
import io.penstock.node.party.ProcessParties;
import io.penstock.node.party.ReplayPace;
import io.penstock.node.party.TraceKeys;
import io.penstock.node.play.PlayFlags;
import io.penstock.node.play.RecordingPlay;
import io.penstock.node.recording.RecordingPage;
import io.penstock.node.replay.report.ModelPayload;
import io.penstock.node.replay.report.ReplayOutput;
import io.penstock.node.replay.report.ReplayReport;
import io.penstock.node.replay.report.Tally;
import io.penstock.node.replay.report.Timeline;
import io.penstock.node.report.Summary.Row;
import io.penstock.node.setting.Capacity;
import io.penstock.node.shape.ModelSize;
import io.penstock.node.text.Reason;
import io.penstock.node.text.Sizes;
import io.penstock.node.tiers.TierPlan;
import io.penstock.node.tiers.TierRecording;
import io.penstock.node.trace.PeekedTrace;
import io.penstock.node.trace.TraceSource;
import io.penstock.wire.protocol.WireFailure.ConnectionLostException;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import io.penstock.wire.transport.Endpoint;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// `penstock replay`: streams a trace through node, prefill and decode, and shows the result.
@Command(
    name = "replay",
    description = {
      "Replays a trace of LLM requests through a node and checks every byte.",
      "",
      "For each request a decode client asks the node for its blocks, a prefill client puts the missing ones, and the"
          + " decode client makes every byte again and compares. Only blocks that a client asks for move.",
      "",
      "Capacities are of the model: a block has as many bytes as its tokens take there. What moves for it is a payload"
          + " of 64 KiB, or as --scale says; hits do not depend on it.",
      "",
      "The options alone state the node; of the environment only the variables of Ascend devices count.",
      ""
    },
    mixinStandardHelpOptions = true,
    modelTransformer = TraceLayout.Options.class,
    sortOptions = false,
    abbreviateSynopsis = true,
    footerHeading = "%nExamples:%n",
    footer = {
      "  penstock replay",
      "  penstock replay conversation_trace.jsonl --model llama-3.1-70b --dram 512GiB --ssd 4TiB",
      "  penstock replay conversation_trace.jsonl --dram \"1000 blocks\" --report report.json",
      "  penstock replay --hbm \"200 blocks\" --dram \"300 blocks\" --ssd \"500 blocks\"",
      "  penstock replay --hbm \"200 blocks\" --hbm-device ascend \\",
      "      --ascend-lib /usr/local/Ascend/latest/lib64/libascendcl.so",
      "  penstock replay --processes --limit 300",
      "  penstock replay conversation_trace.jsonl --model llama-3.1-8b --cluster \\",
      "      --connect 10.0.0.5:7733,10.0.0.6:7733",
      "  penstock replay conversation_trace.jsonl --report report.html",
      "  penstock replay --limit 300 --record incident",
      "  penstock replay incident",
      "  penstock replay incident --report incident.html",
      "  penstock replay incident --break-at 4711",
      "  penstock replay incident --flow lease --until 2.5s",
      "  penstock replay incident --with-change \"policy=arc,dram=300 blocks\"",
      "  penstock replay prefill-recording decode-recording --repeat 5",
      ""
    })
public final class ReplayCommand implements Callable<Integer> {
  private static final int WAITERS = 4096;
  private static final int MOST_LOOPS = 1024;
  /// Options that a recording can be played with.
  private static final Set<String> OF_RECORDINGS =
      Set.of("--json", "--speed", "--until", "--flow", "--break-at", "--repeat", "--with-change", "--report");

  private final Console console;

  @Mixin
  private final TraceFlags trace = new TraceFlags();

  @Parameters(index = "1..*", arity = "0..*", paramLabel = "RECORDING",
      description = "More recordings, such as those of the other processes of a run; only beside a recording.")
  private List<Path> more = List.of();

  @Mixin
  private final PlayFlags play = new PlayFlags();

  @Mixin
  private final TierFlags tiers;

  @Option(names = "--concurrency", paramLabel = "N",
      description = "Requests under way at a time; the node decides on them in trace order in any case (default:"
          + " ${DEFAULT-VALUE}).",
      defaultValue = "4")
  private int concurrency;

  @Option(names = "--scale", paramLabel = "N",
      description = "Bytes of a block of the model for each byte of its payload; 1 moves whole blocks (default:"
          + " payloads of 64 KiB, and whole blocks where they are smaller or --block-bytes states them).")
  private @Nullable Long scale;

  @Mixin
  private final PrefillOption prefill = new PrefillOption();

  @Option(names = "--speed", paramLabel = "X",
      description = "0 as fast as demand allows, 1 in the own time of the trace or recording, 2 twice as fast"
          + " (default: ${DEFAULT-VALUE}).",
      defaultValue = "0")
  private double speed;

  @Option(names = "--budget", paramLabel = "SIZE",
      description = "Bytes in flight of all parties together (default: ${DEFAULT-VALUE}).",
      defaultValue = "32MiB", converter = SizeOption.class)
  private long budget;

  @Option(names = "--loops", paramLabel = "N",
      description = "Network loops of the node, among which its connections are divided (default: 1, with"
          + " --processes half of the cores).")
  private @Nullable Integer loops;

  @Option(names = "--processes", description = "Run node, prefill and decode as three processes instead of one.")
  private boolean processes;

  @Option(names = "--dir", paramLabel = "FOLDER",
      description = "Folder for the logs of the processes (default: a temporary folder). " + Folders.MADE)
  private @Nullable Path dir;

  @Option(names = "--connect", paramLabel = "ADDRESS", split = ",",
      description = "Use a node that runs already, instead of starting one: HOST:PORT, unix:PATH or ws://HOST:PORT."
          + " With --cluster also several, separated by commas, of which the first that answers is asked.",
      converter = NodeAddress.Converter.class)
  private List<Endpoint> connect = List.of();

  @Option(names = "--cluster",
      description = "With --connect: use all nodes of the cluster that the node is in, as if they were one.")
  private boolean cluster;

  @Option(names = "--warm",
      description = "With --connect: let blocks that the node has from before count; else the replay starts cold.")
  private boolean warm;

  @Option(names = "--ceilings", description = "Measure beforehand what the machine can do at most, for comparison.")
  private boolean measuresCeilings;

  @Mixin
  private final ReportFiles reports = new ReportFiles();

  /// The recording can be played by `penstock replay FOLDER`. With `--processes`, each of them records into a folder of
  /// its name.
  @Mixin
  private final TierRecordOptions record = new TierRecordOptions();

  private @Nullable TierRecording recording;

  @Option(names = "--json", description = "Print the report as JSON instead of a table.")
  private boolean json;

  @Spec
  private CommandSpec spec = CommandSpec.create();

  ReplayCommand(Console console) {
    this.console = console;
    this.tiers = new TierFlags(console);
  }

  /// Plays recordings of other kinds than of tiers, which have no options.
  ///
  /// @return the exit code; empty if they are recordings of tiers
  private OptionalInt playOthers(List<Path> recordings) {
    if (!recordings.isEmpty() && RecordingPlayer.of(recordings.getFirst()) != null) {
      play.requireNone();
      Flag.requireLeftOut("--speed", speed == 0 ? null : speed, "with a recording of this kind");
      Flag.requireLeftOut("--report", reports.hasFiles() ? "set" : null, "with a recording of this kind");
    }
    return RecordingPlayer.playOthers(recordings, console, json);
  }

  @Override
  public Integer call() throws IOException {
    Path recording = trace.recording();
    if (recording != null) {
      spec.commandLine().getParseResult().matchedOptions().stream().map(OptionSpec::longestName)
          .filter(name -> !OF_RECORDINGS.contains(name))
          .forEach(name -> TierFlags.requireLeftOut(name, "set", "with a recording, which has its own"));
      List<Path> all = Stream.concat(Stream.of(recording), more.stream())
          .flatMap(place -> RecordingPlay.recordings(place).stream()).toList();
      OptionalInt others = playOthers(all);
      if (others.isPresent()) {
        return others.getAsInt();
      }
      reports.require();
      RecordingPlay.Played played = RecordingPlay.play(Stream.concat(Stream.of(recording), more.stream()).toList(),
          play, speed, console, json);
      reports.write(console, played.json(),
          () -> RecordingPage.of(played.recordings(), played.isGood(), played.lines(), console));
      return played.exitCode();
    }
    play.requireNone();
    TierFlags.requireLeftOut("RECORDING", more.isEmpty() ? null : more.getFirst(), "beside a trace");
    requireTogether();
    TraceLayout layout = Flag.named(() -> isConnected() ? TraceLayout.ofNode(spec) : TraceLayout.of(spec));
    double rate = prefill.rate();
    ReplayOutput output = new ReplayOutput(console, json, reports);
    try (tiers; PeekedTrace requests = PeekedTrace.of(trace.open(console))) {
      ModelSize size = layout.size(requests.blockTokens(), rate);
      if (!isConnected() && !layout.isSized() && layout.groups(1).size() > 1) {
        return replayGroups(requests, layout, size, output);
      }
      FlowPlan plan = Flag.named(() -> FlowPlan.of(payloads(layout, size), budget, pace().concurrency()));
      TierPlan kept = isConnected()
          ? null
          : tiers.plan(plan.space(), size).withWindowBlocks(plan.windowBlocks()).withWaiters(WAITERS);
      return replay(requests, size, plan, kept, ReplayGroups.NONE, output);
    }
  }

  private CacheSpace payloads(TraceLayout layout, ModelSize size) {
    return isConnected() ? layout.space() : Payload.of(layout, size, scale);
  }

  /// Groups are asked before they are read, so two requests at a time would not be decided in the order of the trace.
  private int replayGroups(TraceSource requests, TraceLayout layout, ModelSize size, ReplayOutput output) {
    boolean isStated = spec.commandLine().getParseResult().hasMatchedOption("--concurrency");
    if (isStated && concurrency != 1) {
      throw new IllegalArgumentException(
          "--concurrency must be 1 with a model of several KV groups (was " + concurrency + ")");
    }
    concurrency = 1;
    TierFlags.requireLeftOut("--processes", processes ? "set" : null, "with a model of several KV groups");
    requireNoRecording("with a model of several KV groups");
    TierFlags.requireLeftOut("--loops", loops, "with a model of several KV groups");
    List<NodeConfig> groups = layout.groups(size.blockTokens());
    FlowPlan plan = Flag.named(() -> FlowPlan.of(Payload.ofGroup(groups.getFirst().space(), scale), budget, 1));
    TierPlan kept = tiers.ofGroups(plan.space(), size, groups.size()).withWaiters(WAITERS);
    ReplayGroups plans = Flag.named(() -> ReplayGroups.of(groups, size, scale, budget, kept));
    return replay(requests, size, plan, kept, plans, output);
  }

  /// @param kept levels of the node; null if it runs already
  private int replay(TraceSource requests, ModelSize size, FlowPlan plan, @Nullable TierPlan kept, ReplayGroups groups,
      ReplayOutput output) {
    Map<String, Double> ceilings = measuresCeilings ? new Ceilings(System::nanoTime).measure() : Map.of();
    ReplaySubject subject = kept == null
        ? new ReplaySubject(trace.name(), plan, size, Map.of(),
            cluster ? "the nodes' own policies" : "the node's own policy", pace(), ceilings)
        : new ReplaySubject(trace.name(), plan, size, groups.isEmpty() ? capacities(kept, size) : groups.capacities(),
            kept.rule(), pace(), ceilings,
            groups.isEmpty() ? ModelPayload.of(plan.space().layout()) : groups.payload(size.blockTokens()),
            groups.isEmpty() ? new PolicyAlone.Of(kept.policy(), kept.distinctBlocks()) : null);
    Timeline timeline = Timeline.ofRun();
    LogFolder logs = new LogFolder(dir, console::say);
    ReplayReport outcome;
    try {
      outcome = replay(requests, subject, kept, groups, output.hasCharts() ? timeline : null, logs);
    } finally {
      logs.keep();
    }
    output.show(outcome, timeline, circumstances());
    logs.delete();
    return outcome.isClean() ? ExitCode.OK : ExitCode.FOUND_FAILURE;
  }

  /// Capacities of the levels in blocks, and in bytes of the model.
  private static Map<String, String> capacities(TierPlan kept, ModelSize size) {
    Map<String, String> capacities = new LinkedHashMap<>(kept.capacities());
    capacities.replaceAll((level, capacity) -> size.words(Capacity.parse(capacity).inBlocks(size.blockBytes())));
    return capacities;
  }

  /// @param timeline to fill during the run; null without charts
  private ReplayReport replay(TraceSource requests, ReplaySubject subject, @Nullable TierPlan kept,
      ReplayGroups groups, @Nullable Timeline timeline, LogFolder logs) {
    Scheduler driver = Schedulers.newSingle("replay-driver");
    Tally tally = new Tally();
    try (ProgressView view = view();
        LastWord _ = new LastWord(console, () -> ProgressLine.interrupted(tally.sums(), trace.requests()))) {
      Mono<ReplayReport> run = Mono.usingWhen(parties(subject, kept, groups, logs, driver), parties -> {
        Disposable watch = ProgressView.watch(parties, tally, view, driver);
        Mono<ReplayReport> report = new ReplayRun(parties, subject, tally, driver, System::nanoTime).report(requests);
        Mono<ReplayReport> watched =
            timeline == null ? report : new Sampler(timeline, tally, driver, System::nanoTime).during(parties, report);
        return watched
            .doOnNext(ended -> RecordOptions.ended(recording, ended.isClean() ? null : "the replay was not clean"))
            .doOnError(failure -> RecordOptions.ended(recording, "the replay failed: " + failure))
            .doFinally(end -> watch.dispose());
      }, Parties::close);
      ReplayReport ended = Objects.requireNonNull(run.block(), "a replay ends with a report");
      view.end(tally.sums(), ended.gigabytesPerSecond() * 1e9);
      return ended;
    } finally {
      driver.dispose();
    }
  }

  /// @param kept levels of the node; null if it runs already
  private Mono<Parties> parties(ReplaySubject subject, @Nullable TierPlan kept, ReplayGroups groups, LogFolder logs,
      Scheduler driver) {
    FlowPlan plan = subject.plan();
    if (!groups.isEmpty()) {
      return GroupParties.open(groups.plans(), subject.size().blockTokens(), driver, System::nanoTime)
          .map(parties -> parties);
    }
    if (kept == null) {
      return cluster ? connectedToAll(plan) : connected(connect.getFirst(), plan);
    }
    if (processes) {
      console.say("starting node, decode and prefill");
      List<String> node = new ArrayList<>(TierFlags.arguments(kept));
      if (loops != null) {
        node.addAll(List.of("--loops", String.valueOf(loops)));
      }
      return ProcessParties.open(plan, node, logs.open(), driver, record).map(parties -> parties);
    }
    recording = record.begin("");
    return LoopbackParties
        .open(plan, kept, keys(plan, false), driver, System::nanoTime, recording, loops == null ? 1 : loops)
        .map(parties -> parties);
  }

  private Mono<Parties> connected(Endpoint node, FlowPlan plan) {
    return ConnectedParties
        .open("decode and prefill here, node at " + node, node, plan, keys(plan, true), System::nanoTime)
        .onErrorMap(RemotePermanentException.class,
            e -> OtherShape.told(node, plan.space(), spec.optionsMap().keySet(), e))
        .onErrorMap(ConnectionLostException.class,
            e -> new UnavailableException("no node is listening at %s (%s)".formatted(node, Reason.ofCause(e)), e))
        .map(parties -> parties);
  }

  private Mono<Parties> connectedToAll(FlowPlan plan) {
    String seeds = connect.stream().map(Endpoint::toString).collect(Collectors.joining(", "));
    return ConnectedParties
        .openCluster("decode and prefill here, nodes of the cluster at " + seeds, connect, plan, keys(plan, true),
            System::nanoTime)
        .onErrorMap(e -> ClusterLink.told(connect.getFirst(), e))
        .onErrorMap(RemotePermanentException.class,
            e -> OtherShape.told(connect.getFirst(), plan.space(), spec.optionsMap().keySet(), e))
        .map(parties -> parties);
  }

  private boolean isConnected() {
    return !connect.isEmpty();
  }

  /// Keys of the trace; on a node with history, new ones unless the history is to count.
  private TraceKeys keys(FlowPlan plan, boolean hasHistory) {
    return new TraceKeys(plan.space().id(), hasHistory && !warm ? new SecureRandom().nextLong() : 0);
  }

  private ProgressView view() {
    long requests = trace.requests();
    return console.isTerminal()
        ? new ProgressBarView(console.err(), requests)
        : new ProgressLinesView(console::say, requests, System::nanoTime);
  }

  private ReplayPace pace() {
    return ReplayPace.defaults().withConcurrency(concurrency).withSpeed(speed).withLimit(trace.limit());
  }

  /// Refuses options that would otherwise be ignored without notice.
  private void requireTogether() throws IOException {
    if (cluster && !isConnected()) {
      throw new IllegalArgumentException("--cluster must be left out without --connect, for a new node is in none (was"
          + " given)");
    }
    if (!cluster && connect.size() > 1) {
      throw new IllegalArgumentException("--connect must be one address without --cluster (was %d)"
          .formatted(connect.size()));
    }
    if (isConnected()) {
      tiers.requireNone("with --connect, for the node runs already and has its own");
      TierFlags.requireLeftOut("--scale", scale, "with --connect, for blocks of that node are what moves");
      TierFlags.requireLeftOut("--processes", processes ? "set" : null, "with --connect, for the node runs already");
    } else {
      TierFlags.requireLeftOut("--warm", warm ? "set" : null,
          "without --connect, for a new node has no blocks from before");
    }
    if (isConnected()) {
      requireNoRecording("with --connect, for only a node that starts here is recorded");
      TierFlags.requireLeftOut("--loops", loops, "with --connect, for only a node that starts here has them");
    } else if (loops != null && (loops < 1 || loops > MOST_LOOPS)) {
      throw new IllegalArgumentException("--loops must be in [1, %d] (was %d)".formatted(MOST_LOOPS, loops));
    }
    record.require();
    Path folder = record.folder();
    if (processes && folder != null) {
      Folders.requireEmpty("--record", folder);
    }
    trace.requireTogether();
    if (!processes) {
      TierFlags.requireLeftOut("--dir", dir, "without --processes, for only processes log there");
    }
  }

  private void requireNoRecording(String when) {
    record.first().ifPresent(option -> TierFlags.requireLeftOut(option, "set", when));
  }

  private List<Row> circumstances() {
    Stream<String> words = spec.commandLine().getParseResult().originalArgs().stream();
    String command = words.map(word -> word.contains(" ") ? '"' + word + '"' : word)
        .collect(Collectors.joining(" ", "penstock ", ""));
    return List.of(new Row("command", command), new Row("budget", Sizes.human(budget) + ", all parties together"),
        new Row("machine",
            "%s %s, %d processors, Java %s".formatted(System.getProperty("os.name"), System.getProperty("os.arch"),
                Runtime.getRuntime().availableProcessors(), Runtime.version().feature())),
        new Row("ended", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString()));
  }
}
