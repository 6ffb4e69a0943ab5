package io.penstock.examples.load;

import io.penstock.check.Checks;
import io.penstock.examples.engine.transformer.ToyTransformer;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.Progress;
import io.penstock.system.LiveClock;
import java.io.IOException;
import java.net.http.HttpClient;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// `penstock example load`.
@Command(name = "load",
    description = {"Chats of several turns, from a seed, for an OpenAI endpoint: times, cached tokens, and every answer"
        + " compared with the model in one process.",
      "",
      "Without --target it starts two prefills, two decodes, a node and a gateway, each in a process of its own, and"
          + " does this with and without the cache. With --failures it does it once: meanwhile each engine is drained,"
          + " removed and added again, and a decode and a prefill are killed and started again.",
      ""},
    mixinStandardHelpOptions = true)
public final class LoadCommand implements Callable<Integer> {
  private static final int COMPARING_THREADS = Runtime.getRuntime().availableProcessors();
  /// Of each engine.
  private static final int SLOTS = 16;
  private static final int SLOW_TOKEN_MILLIS = 20;
  /// Failures begin when one request of so many has ended.
  private static final int BEGUN_PART = 20;

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

  @Option(names = "--direct", description = "Send chats to the engines, without the gateway.")
  private boolean direct;

  @Option(names = "--failures", description = "Drain, remove, add and kill engines while the load runs.")
  private boolean failures;

  @Option(names = "--token-time", paramLabel = "MILLIS",
      description = "Least time of a generated token; engines that are started (default: 0, with --failures 20).")
  private @Nullable Integer tokenMillis;

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
    requireOneOf();
    try (HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      if (target != null) {
        HttpTarget to = new HttpTarget(client, target, nanos);
        to.requireReached();
        LoadReport report = run("load", plan, to, done -> {}, () -> false);
        print(report, report.table());
        return code(report.isGood());
      }
      if (failures) {
        return withFailures(plan, client);
      }
      LoadReport with = cluster("with cache", plan, client, true);
      LoadReport without = cluster("without cache", plan, client, false);
      print(new Both(with, without), LoadReport.table(with, without));
      return code(with.isGood() && without.isGood());
    }
  }

  private void requireOneOf() {
    if ((target != null && (direct || failures || tokenMillis != null)) || (direct && failures)) {
      throw new IllegalArgumentException(
          "--target, --direct and --failures must be given alone, and --token-time without --target (was more)");
    }
    Checks.notNegative("--token-time", tokenMillis == null ? 0 : tokenMillis);
  }

  private static int code(boolean good) {
    return good ? ExitCode.OK : ExitCode.FOUND_FAILURE;
  }

  /// The report of two passes.
  private record Both(LoadReport with, LoadReport without) {}

  /// The report of a pass with failures.
  private record Failed(LoadReport load, Disruptions.Report disruptions, DeadDecode.Report deadDecode) {}

  private Cluster.Settings settings(boolean reuse) {
    int least = tokenMillis != null ? tokenMillis : failures ? SLOW_TOKEN_MILLIS : 0;
    return new Cluster.Settings(seed, maxTokens, SLOTS, least, reuse);
  }

  private LoadReport cluster(String what, LoadPlan plan, HttpClient client, boolean reuse)
      throws IOException, InterruptedException {
    try (Cluster cluster = Cluster.start(settings(reuse), client, nanos)) {
      return run(what, plan, direct ? cluster.pairs() : cluster.gatewayTarget(), done -> {}, () -> false);
    }
  }

  private int withFailures(LoadPlan plan, HttpClient client) throws IOException, InterruptedException {
    try (Cluster cluster = Cluster.start(settings(true), client, nanos)) {
      Disruptions disruptions = new Disruptions(cluster, console::say);
      LoadReport load = disruptions.during((begun, goesOn) -> run("load", plan, cluster.gatewayTarget(), done -> {
        if (done > plan.requests() / BEGUN_PART) {
          begun.run();
        }
      }, goesOn));
      Disruptions.Report disrupted = disruptions.report();
      DeadDecode.Report dead =
          new DeadDecode(client, cluster.prefills().getFirst(), cluster.decodes().getFirst(), SLOTS,
              nanos).measure();
      print(new Failed(load, disrupted, dead), load.table() + """
          %s
          gateway: %d answers went on at another engine, %d attempts were repeated before the first byte
          dead decode: blocks of %d requests that waited there for %d ms were free at the prefill after %.1f ms
          """.formatted(String.join("\n", disrupted.steps()), disrupted.resumed(), disrupted.repeated(),
          dead.requests(), dead.heldMillis(), dead.freeMillis()));
      return code(load.isGood());
    }
  }

  /// @param after receives the number of requests that have ended, after each
  /// @param more whether to hold further conversations than those of the plan
  private LoadReport run(String what, LoadPlan plan, ChatTarget to, IntConsumer after, BooleanSupplier more)
      throws InterruptedException {
    LoadRun run = new LoadRun(plan, to, nanos);
    LoadRun.Outcome outcome;
    AtomicInteger done = new AtomicInteger();
    try (Progress progress = Progress.of(console, what, "requests")) {
      outcome = run.run(turn -> {
        synchronized (progress) {
          int number = done.incrementAndGet();
          progress.at(Math.min(number, plan.requests()), plan.requests());
          if (number == plan.requests() + 1) {
            progress.next("further requests until all is done to the engines");
          }
          after.accept(done.get());
        }
      }, more);
    }
    int wrong = noCompare
        ? -1
        : run.wrong(outcome.turns(), new ToyTransformer(seed, maxTokens), COMPARING_THREADS);
    return LoadReport.of(plan, outcome, wrong);
  }

  private void print(Object report, String table) {
    if (json) {
      console.json(report);
    } else {
      console.out().print(table);
      console.requireHeard();
    }
  }
}
