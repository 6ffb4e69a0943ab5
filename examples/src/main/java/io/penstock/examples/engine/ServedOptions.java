package io.penstock.examples.engine;

import io.penstock.examples.engine.transformer.EngineRole;
import io.penstock.examples.engine.transformer.ToyTransformer;
import io.penstock.examples.engine.transformer.TransformerOptions;
import io.penstock.examples.engine.transformer.TransformerServer;
import io.penstock.examples.openai.EngineServerOptions;
import io.penstock.node.cli.Console;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// Options of an engine behind HTTP, and its life.
final class ServedOptions {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  @Option(names = "--role", required = true, paramLabel = "ROLE",
      description = "prefill, decode or both: serve an engine until a signal.")
  private EngineRole role = EngineRole.BOTH;

  @Option(names = "--listen", paramLabel = "HOST:PORT", defaultValue = "127.0.0.1:8000",
      description = "Where to listen; port 0 takes a free one (default: ${DEFAULT-VALUE}).")
  private String listen = "127.0.0.1:8000";

  @Option(names = "--node", paramLabel = "HOST:PORT", description = "A node where all engines keep blocks.")
  private @Nullable String node;

  @Option(names = "--slots", paramLabel = "N", defaultValue = "4",
      description = "Requests that are computed side by side (default: ${DEFAULT-VALUE}).")
  private int slots = 4;

  @Option(names = "--queue", paramLabel = "N", defaultValue = "256",
      description = "Requests that may wait; others are refused with 503 (default: ${DEFAULT-VALUE}).")
  private int queue = 256;

  @Option(names = "--max-tokens", paramLabel = "N", defaultValue = "4096",
      description = "Most tokens of a prompt and its answer (default: ${DEFAULT-VALUE}).")
  private int maxTokens = 4096;

  @Option(names = "--cache-blocks", paramLabel = "N", defaultValue = "4096",
      description = "Blocks of 16 tokens that a prefill keeps (default: ${DEFAULT-VALUE}).")
  private int cacheBlocks = 4096;

  @Option(names = "--token-time", paramLabel = "MILLIS", defaultValue = "0",
      description = "Least time of a generated token: a larger model takes longer (default: ${DEFAULT-VALUE}).")
  private int tokenMillis;

  @Option(names = "--pending-wait", paramLabel = "MILLIS", defaultValue = "250",
      description = "Longest wait for blocks of a prompt that another engine is just storing in the node (default:"
          + " ${DEFAULT-VALUE}).")
  private int pendingMillis = 250;

  @Option(names = "--no-reuse", description = "Compute every prompt, even if its blocks are there.")
  private boolean noReuse;

  @Option(names = "--seed", paramLabel = "N", defaultValue = "7",
      description = "Seed of the weights; engines that exchange blocks have the same (default: ${DEFAULT-VALUE}).")
  private long seed = 7;

  /// Serves until this thread is interrupted, or the process ends.
  void serve(Console console) throws InterruptedException {
    int colon = listen.lastIndexOf(':');
    String host = colon < 0 ? "" : listen.substring(0, colon).replaceAll("[\\[\\]]", "");
    if (host.isEmpty() || !listen.substring(colon + 1).matches("\\d{1,5}")) {
      throw new IllegalArgumentException("--listen must be HOST:PORT (was " + listen + ")");
    }
    TransformerOptions options = TransformerOptions.of(role, node).withHost(host).withSlots(slots)
        .withCacheBlocks(cacheBlocks).withReuse(!noReuse).withTokenTime(Duration.ofMillis(tokenMillis))
        .withPendingWait(Duration.ofMillis(pendingMillis));
    EngineServerOptions http =
        EngineServerOptions.of(host, Integer.parseInt(listen.substring(colon + 1))).withQueue(queue);
    TransformerServer server = TransformerServer.start(new ToyTransformer(seed, maxTokens), options, http)
        .blockOptional(PATIENCE).orElseThrow();
    try {
      console.print("engine: %s of %s listens on %s%s".formatted(role.name().toLowerCase(Locale.ROOT),
          server.engine().model(), server.http().address(),
          server.engine().address().map(address -> ", hands blocks over at " + address).orElse("")));
      new CountDownLatch(1).await();
    } finally {
      server.close().block(PATIENCE);
    }
  }
}
