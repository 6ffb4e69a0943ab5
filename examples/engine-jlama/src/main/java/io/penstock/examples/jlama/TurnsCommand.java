package io.penstock.examples.jlama;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.Progress;
import io.penstock.node.cli.ReportFiles;
import io.penstock.node.text.Json;
import io.penstock.wire.PenstockClient;
import io.penstock.wire.PenstockNode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// `jlama turns`.
@Command(name = "turns", mixinStandardHelpOptions = true,
    description = {"Holds conversations of random tokens. Each turn is computed without a node, and with one: the"
        + " answers must be equal. Shows when the first token of each turn comes.",
      ""})
final class TurnsCommand implements Callable<Integer> {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final long BLOCKS = 100_000;

  private final Console console;

  @Parameters(paramLabel = "MODEL", description = "Folder of a model in Hugging Face form.")
  private Path model = Path.of("");

  @Option(names = "--node", paramLabel = "HOST:PORT", description = "Where the node is (default: one in this process).")
  private @Nullable String node;

  @Option(names = "--conversations", paramLabel = "N", defaultValue = "3",
      description = "Number of conversations (default: ${DEFAULT-VALUE}).")
  private int conversations;

  @Option(names = "--turns", paramLabel = "N", defaultValue = "5",
      description = "Turns of each (default: ${DEFAULT-VALUE}).")
  private int turns;

  @Option(names = "--first", paramLabel = "TOKENS", defaultValue = "1472",
      description = "Tokens of the first question (default: ${DEFAULT-VALUE}).")
  private int firstTokens;

  @Option(names = "--question", paramLabel = "TOKENS", defaultValue = "100",
      description = "Tokens of each later question (default: ${DEFAULT-VALUE}).")
  private int turnTokens;

  @Option(names = "--answer", paramLabel = "TOKENS", defaultValue = "32",
      description = "Tokens of each answer (default: ${DEFAULT-VALUE}).")
  private int answerTokens;

  @Option(names = "--spread", paramLabel = "PERCENT", defaultValue = "0",
      description = "By which the length of a question may differ (default: ${DEFAULT-VALUE}).")
  private int spreadPercent;

  @Option(names = "--warm-up", paramLabel = "N", defaultValue = "2",
      description = "Conversations that come before and are not counted (default: ${DEFAULT-VALUE}).")
  private int warmUp;

  @Option(names = "--seed", paramLabel = "N", defaultValue = "1",
      description = "Seed of the questions (default: ${DEFAULT-VALUE}).")
  private long seed;

  @Option(names = "--json", description = "Prints all figures as JSON.")
  private boolean json;

  @Mixin
  private final ReportFiles reports = new ReportFiles();

  TurnsCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws IOException {
    reports.require();
    TurnsRun.Settings settings = new TurnsRun.Settings(conversations, turns, firstTokens, turnTokens, answerTokens,
        spreadPercent, warmUp, seed);
    TurnsReport report;
    try (JlamaEngine engine = JlamaEngine.load(model)) {
      report = node != null ? run(engine, settings, node) : runWithNode(engine, settings);
    }
    if (json) {
      console.json(report);
    } else {
      console.out().print(TurnsTable.of(report));
    }
    reports.write(console, Json.of(report) + "\n", () -> TurnsPage.of(report));
    return report.isGood() ? ExitCode.OK : ExitCode.FOUND_FAILURE;
  }

  private TurnsReport runWithNode(JlamaEngine engine, TurnsRun.Settings settings) {
    PenstockNode own = PenstockNode.start(engine.space(), BLOCKS).blockOptional(PATIENCE).orElseThrow();
    try {
      return run(engine, settings, own.address());
    } finally {
      own.close().block(PATIENCE);
    }
  }

  private TurnsReport run(JlamaEngine engine, TurnsRun.Settings settings, String address) {
    PenstockClient client = PenstockClient.connect(address, engine.space()).blockOptional(PATIENCE).orElseThrow();
    Scheduler sender = Schedulers.newSingle("jlama-sender", true);
    try (Progress progress = Progress.of(console, "jlama", "conversations")) {
      return new TurnsRun(engine, new JlamaCache(client, sender, PATIENCE), client, settings)
          .run(ended -> progress.at(ended, settings.conversations()));
    } finally {
      sender.dispose();
      client.close().block(PATIENCE);
    }
  }
}
