package io.penstock.lab.bench.gateway;

import io.penstock.lab.bench.side.Bench;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.Progress;
import io.penstock.node.cli.TemporaryFolder;
import io.penstock.node.option.SecondsOption;
import io.penstock.node.option.TimeOption;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// `penstock bench gateway`: the cost of a gateway.
@Command(
    name = "gateway",
    description = {"Measures what a gateway costs the requests that go through it.", "",
      "A scripted engine in this process streams answers, one token a packet. It is asked directly and through gateways"
          + " in processes of their own, one with its defaults and one without resumes, by turns: as fast as it can,"
          + " and at a pace. Medians of the rounds, each against the direct turns of its round.",
      "",
      "Exits with 1 if an answer is not whole, or if a request costs more than 1 ms, a token more than 50 µs, or fewer"
          + " than 5,000 tokens a second come through; with 74 if nothing could be measured.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock bench gateway --forms chat,messages --rounds 9", ""})
public final class GatewayBenchCommand extends Bench<OverheadReport> {
  @Option(names = "--forms", paramLabel = "NAMES", split = ",",
      description = "chat, completions, responses, messages (default: all).")
  private List<String> forms = Arrays.stream(AnswerForm.values()).map(AnswerForm::word).toList();

  @Option(names = "--resumes", paramLabel = "N", split = ",",
      description = "The gateways' --resumes (default: 2,0).")
  private List<Integer> resumes = List.of(2, 0);

  @Option(names = "--concurrency", paramLabel = "N",
      description = "Answers under way at a time (default: ${DEFAULT-VALUE}).", defaultValue = "32")
  private int concurrency;

  @Option(names = "--tokens", paramLabel = "N",
      description = "Tokens of an answer that comes as fast as it can (default: ${DEFAULT-VALUE}).",
      defaultValue = "128")
  private int tokens;

  @Option(names = "--pace", paramLabel = "DURATION", converter = TimeOption.class,
      description = "Time between two tokens of a paced answer (default: ${DEFAULT-VALUE}).", defaultValue = "10ms")
  private Duration pace = Duration.ZERO;

  @Option(names = "--seconds", paramLabel = "TIME", converter = SecondsOption.class,
      description = "Time of a turn, such as 2, 0.5 or 2s (default: ${DEFAULT-VALUE}).", defaultValue = "2")
  private Duration seconds = Duration.ZERO;

  @Option(names = "--warm-up", paramLabel = "N",
      description = "Rounds before those that count, until the code of a request is compiled"
          + " (default: ${DEFAULT-VALUE}).",
      defaultValue = "12")
  private int warmUp;

  @Option(names = "--rounds", paramLabel = "N", description = "Rounds (default: ${DEFAULT-VALUE}).",
      defaultValue = "5")
  private int rounds;

  GatewayBenchCommand(Console console) {
    super(console);
  }

  private static AnswerForm form(String word) {
    return Arrays.stream(AnswerForm.values()).filter(form -> form.word().equals(word)).findFirst().orElseThrow(
        () -> new IllegalArgumentException("--forms must be of chat, completions, responses, messages (was " + word
            + ")"));
  }

  @Override
  protected OverheadReport measured() throws IOException {
    OverheadLoad load = new OverheadLoad(forms.stream().map(GatewayBenchCommand::form).toList(), concurrency, tokens,
        pace, SecondsOption.positive("--seconds", seconds), warmUp, rounds);
    LoopResources loops = LoopResources.create("penstock-bench", Runtime.getRuntime().availableProcessors(), true);
    Scheduler timer = Schedulers.newSingle("penstock-bench-timer", true);
    Map<String, GatewayProcess> gateways = new LinkedHashMap<>();
    try (TemporaryFolder place = TemporaryFolder.create("penstock-bench-");
        BenchEngine engine = new BenchEngine(loops, timer);
        AnswerClient client = new AnswerClient(loops);
        Progress progress = Progress.of(console, "bench gateway", "rounds")) {
      for (int each : resumes) {
        gateways.put("resumes " + each, GatewayProcess.start(engine.url(), place.path().resolve("log-" + each), client,
            timer, "--resumes", "" + each));
      }
      return new OverheadBench(load, engine, client, gateways, timer).run(progress);
    } finally {
      gateways.values().forEach(GatewayProcess::close);
      timer.dispose();
      loops.dispose();
    }
  }
}
