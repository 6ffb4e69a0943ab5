package io.penstock.lab.bench.gateway;

import io.penstock.lab.bench.side.Bench;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.Progress;
import io.penstock.node.cli.TemporaryFolder;
import io.penstock.node.option.SecondsOption;
import io.penstock.node.option.TimeOption;
import java.io.IOException;
import java.time.Duration;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// `penstock bench overload`: a gateway that is asked for more than its engine can answer.
@Command(
    name = "overload",
    description = {"Asks a gateway for more than its engine can answer.", "",
      "A scripted engine in this process has slots, and an answer takes tokens times pace: that is its capacity. A"
          + " multiple of it is asked for, then a half. The gateway is in a process of its own.",
      "",
      "Exits with 1 if the goodput is less than 0.9 of the capacity, if Retry-After is not near the true wait, if"
          + " memory grows, or if the recovery takes more than 2 s; with 74 if nothing could be measured.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock bench overload --factor 3 --seconds 60", ""})
public final class OverloadCommand extends Bench<OverloadReport> {
  @Option(names = "--factor", paramLabel = "X", description = "Multiple of the capacity (default: ${DEFAULT-VALUE}).",
      defaultValue = "3")
  private double factor;

  @Option(names = "--seconds", paramLabel = "TIME", converter = SecondsOption.class,
      description = "Time of the overload, such as 60, 0.5 or 60s (default: ${DEFAULT-VALUE}).", defaultValue = "60")
  private Duration seconds = Duration.ZERO;

  @Option(names = "--slots", paramLabel = "N",
      description = "Answers that run at the engine at a time (default: ${DEFAULT-VALUE}).", defaultValue = "32")
  private int slots;

  @Option(names = "--queue", paramLabel = "N",
      description = "Requests that wait at most (default: ${DEFAULT-VALUE}).", defaultValue = "32")
  private int queue;

  @Option(names = "--tokens", paramLabel = "N", description = "Tokens of an answer (default: ${DEFAULT-VALUE}).",
      defaultValue = "10")
  private int tokens;

  @Option(names = "--pace", paramLabel = "DURATION", converter = TimeOption.class,
      description = "Time between two tokens (default: ${DEFAULT-VALUE}).", defaultValue = "40ms")
  private Duration pace = Duration.ZERO;

  @Option(names = "--leaving", paramLabel = "SHARE",
      description = "Share of the clients that go after 50 ms (default: ${DEFAULT-VALUE}).", defaultValue = "0.05")
  private double leaving;

  @Option(names = "--seed", paramLabel = "S", description = "Seed of the arrivals (default: ${DEFAULT-VALUE}).",
      defaultValue = "1")
  private long seed;

  OverloadCommand(Console console) {
    super(console);
  }

  @Override
  protected OverloadReport measured() throws IOException {
    OverloadLoad load =
        new OverloadLoad(slots, tokens, pace, queue, factor, leaving, SecondsOption.positive("--seconds", seconds),
            seed);
    LoopResources loops = LoopResources.create("penstock-bench", Runtime.getRuntime().availableProcessors(), true);
    Scheduler timer = Schedulers.newSingle("penstock-bench-timer", true);
    try (TemporaryFolder place = TemporaryFolder.create("penstock-bench-");
        BenchEngine engine = new BenchEngine(loops, timer);
        AnswerClient client = new AnswerClient(loops);
        GatewayProcess gateway = GatewayProcess.start(engine.url(), place.path().resolve("log"), client, timer,
            "--running", "" + slots, "--queue", "" + queue);
        Progress progress = Progress.of(console, "bench overload", "loads")) {
      return new OverloadBench(load, engine, client, gateway, timer).run(progress);
    } finally {
      timer.dispose();
      loops.dispose();
    }
  }
}
