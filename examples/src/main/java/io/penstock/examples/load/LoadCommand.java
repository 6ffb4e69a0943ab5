package io.penstock.examples.load;

import io.penstock.examples.engine.transformer.ToyTransformer;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.Progress;
import io.penstock.system.LiveClock;
import java.net.http.HttpClient;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// `penstock example load`.
@Command(name = "load",
    description = {"Chats of several turns, from a seed, for an OpenAI endpoint: times, cached tokens, and every answer"
        + " compared with the model in one process.",
      "",
      "Without --target it starts two prefills, two decodes and a node, each in a process of its own, and does this"
          + " with and without the cache.",
      ""},
    mixinStandardHelpOptions = true)
public final class LoadCommand implements Callable<Integer> {
  private static final int COMPARING_THREADS = Runtime.getRuntime().availableProcessors();

  private final Console console;
  private final LongSupplier nanos = LiveClock.process()::nanos;

  @Option(names = "--target", paramLabel = "HOST:PORT", description = "A gateway, or an engine that does both.")
  private @Nullable String target;

  @Option(names = "--conversations", paramLabel = "N", defaultValue = "200",
      description = "Conversations (default: ${DEFAULT-VALUE}).")
  private int conversations = 200;

  @Option(names = "--turns", paramLabel = "N", defaultValue = "5",
      description = "Turns of each (default: ${DEFAULT-VALUE}).")
  private int turns = 5;

  @Option(names = "--concurrency", paramLabel = "N", defaultValue = "32",
      description = "Conversations that are held side by side (default: ${DEFAULT-VALUE}).")
  private int concurrency = 32;

  @Option(names = "--message-chars", paramLabel = "N", defaultValue = "64",
      description = "Characters of each message of a user (default: ${DEFAULT-VALUE}).")
  private int messageChars = 64;

  @Option(names = "--answer-tokens", paramLabel = "N", defaultValue = "32",
      description = "Most tokens of an answer (default: ${DEFAULT-VALUE}).")
  private int answerTokens = 32;

  @Option(names = "--seed", paramLabel = "N", defaultValue = "7",
      description = "Seed of the conversations, and of the model's weights (default: ${DEFAULT-VALUE}).")
  private long seed = 7;

  @Option(names = "--max-tokens", paramLabel = "N", defaultValue = "4096",
      description = "Most tokens of the model, as the engines have it (default: ${DEFAULT-VALUE}).")
  private int maxTokens = 4096;

  @Option(names = "--no-compare", description = "Do not compare the answers: the target has another model.")
  private boolean noCompare;

  @Option(names = "--json", description = "Print for machines.")
  private boolean json;

  public LoadCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws Exception {
    LoadPlan plan = new LoadPlan(conversations, turns, concurrency, messageChars, answerTokens, seed);
    if (plan.maxTokens() > maxTokens) {
      throw new IllegalArgumentException("--max-tokens must be >= %d for these conversations (was %d)"
          .formatted(plan.maxTokens(), maxTokens));
    }
    try (HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      if (target != null) {
        LoadReport report = run("load", plan, new HttpTarget(client, target, nanos));
        print(report, "");
        return report.isGood() ? ExitCode.OK : ExitCode.FOUND_FAILURE;
      }
      LoadReport with;
      try (Cluster cluster = Cluster.start(seed, maxTokens, true)) {
        with = run("with cache", plan, cluster.pairs(client, nanos));
      }
      LoadReport without;
      try (Cluster cluster = Cluster.start(seed, maxTokens, false)) {
        without = run("without cache", plan, cluster.pairs(client, nanos));
      }
      if (json) {
        console.json(new Both(with, without));
      } else {
        print(with, "with the cache\n");
        print(without, "without the cache\n");
      }
      return with.isGood() && without.isGood() ? ExitCode.OK : ExitCode.FOUND_FAILURE;
    }
  }

  /// The report for machines.
  private record Both(LoadReport with, LoadReport without) {}

  private LoadReport run(String what, LoadPlan plan, ChatTarget to) throws InterruptedException {
    LoadRun run = new LoadRun(plan, to, nanos);
    LoadRun.Outcome outcome;
    AtomicInteger done = new AtomicInteger();
    try (Progress progress = Progress.of(console, what, "requests")) {
      outcome = run.run(turn -> {
        synchronized (progress) {
          progress.at(done.incrementAndGet(), plan.requests());
        }
      });
    }
    int wrong = noCompare
        ? -1
        : run.wrong(outcome.turns(), new ToyTransformer(seed, maxTokens), COMPARING_THREADS);
    return LoadReport.of(plan, outcome, wrong);
  }

  private void print(LoadReport report, String title) {
    if (json) {
      console.json(report);
    } else {
      List.of(title + report.table()).forEach(console.out()::print);
    }
  }
}
