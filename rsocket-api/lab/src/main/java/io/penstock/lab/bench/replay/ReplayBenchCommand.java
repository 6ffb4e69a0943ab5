package io.penstock.lab.bench.replay;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import io.penstock.lab.bench.side.Bench;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.Flag;
import io.penstock.node.cli.Progress;
import io.penstock.node.option.SecondsOption;
import io.penstock.node.option.SizeOption;
import io.penstock.node.party.FlowPlan;
import io.penstock.node.party.LoopbackParties;
import io.penstock.node.party.ReplayPace;
import io.penstock.node.party.TraceKeys;
import io.penstock.node.replay.TraceFlags;
import io.penstock.node.setting.Capacity;
import io.penstock.node.shape.BlockShape;
import io.penstock.node.tiers.TierPlan;
import io.penstock.node.trace.TraceRequest;
import io.penstock.node.trace.TraceSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// `penstock bench replay`: the cost of a replay compared with its parts.
@Command(
    name = "replay",
    description = {"Measures the CPU time of a replay beside that of its parts.", "",
      "Replays the first requests of a trace, then puts, gets, makes and compares the same blocks, each for itself, by"
          + " turns. Node, prefill and decode are in this process.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock bench replay conversation_trace.jsonl --limit 200", ""})
public final class ReplayBenchCommand extends Bench<ReplayBenchReport> {
  private static final int WAITERS = 4096;
  private static final int REQUESTS = 200;

  @Mixin
  private final TraceFlags trace = new TraceFlags();

  @Option(names = "--block-bytes", paramLabel = "SIZE", converter = SizeOption.class,
      description = "Bytes of a block (default: ${DEFAULT-VALUE}).", defaultValue = "64KiB")
  private long blockBytes;

  @Option(names = "--layers", paramLabel = "N",
      description = "Layers of a block; two checksums each (default: ${DEFAULT-VALUE}).", defaultValue = "8")
  private int layers;

  @Option(names = "--concurrency", paramLabel = "N",
      description = "Requests under way at a time (default: ${DEFAULT-VALUE}).", defaultValue = "4")
  private int concurrency;

  @Option(names = "--budget", paramLabel = "SIZE", converter = SizeOption.class,
      description = "Bytes in flight of all parties together (default: ${DEFAULT-VALUE}).", defaultValue = "32MiB")
  private long budget;

  @Option(names = "--warm-up", paramLabel = "TIME", converter = SecondsOption.class,
      description = "Warm-up before the first round, such as 15 or 15s (default: ${DEFAULT-VALUE}).",
      defaultValue = "20s")
  private Duration warmUp = Duration.ZERO;

  @Option(names = "--rounds", paramLabel = "N",
      description = "Rounds in which replay and parts take turns; figures are medians (default: ${DEFAULT-VALUE}).",
      defaultValue = "5")
  private int rounds;

  public ReplayBenchCommand(Console console) {
    super(console);
  }

  @Override
  protected ReplayBenchReport measured() {
    trace.requireTogether();
    Checks.positive("--rounds", rounds);
    FlowPlan plan =
        Flag.named(() -> FlowPlan.of(BlockShape.of(blockBytes, layers).space("bench"), budget, concurrency));
    ReplayPace.defaults().withConcurrency(concurrency);
    List<TraceRequest> requests = requests();
    long blocks = requests.stream().flatMap(request -> request.hashIds().stream()).distinct().count();
    return measured(plan, requests, 2 * blocks);
  }

  /// @param capacityBlocks of the node: the blocks of a turn are still there after it
  private ReplayBenchReport measured(FlowPlan plan, List<TraceRequest> requests, long capacityBlocks) {
    Scheduler driver = Schedulers.newSingle("replay-driver");
    TierPlan kept = TierPlan.dram(plan.space(), Capacity.ofBlocks(capacityBlocks))
        .withWindowBlocks(plan.windowBlocks()).withWaiters(WAITERS);
    LoopbackParties parties = requireNonNull(LoopbackParties
        .open(plan, kept, new TraceKeys(plan.space().id(), 0), driver, System::nanoTime).block(), "parties");
    try (Progress progress = Progress.of(console, "bench replay", "rounds");
        ReplayBench bench = new ReplayBench(plan, parties, requests, driver, System::nanoTime)) {
      return bench.run(warmUp, rounds, progress);
    } finally {
      parties.close().block();
      driver.dispose();
    }
  }

  private List<TraceRequest> requests() {
    List<TraceRequest> requests = new ArrayList<>();
    long most = Math.min(trace.limit(), trace.limit() == Long.MAX_VALUE ? REQUESTS : Integer.MAX_VALUE);
    try (TraceSource source = trace.open(console)) {
      for (TraceRequest next = source.next(); next != null && requests.size() < most; next = source.next()) {
        requests.add(next);
      }
    }
    if (requests.isEmpty()) {
      throw new IllegalArgumentException("TRACE must have requests (has none)");
    }
    return requests;
  }
}
