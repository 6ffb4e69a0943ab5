package io.penstock.examples.engine;

import io.penstock.examples.engine.transformer.EngineRole;
import io.penstock.examples.engine.transformer.ToyTransformer;
import io.penstock.examples.engine.transformer.TransformerOptions;
import io.penstock.examples.engine.transformer.TransformerServer;
import io.penstock.examples.openai.EngineServerOptions;
import io.penstock.node.cli.Console;
import io.penstock.node.option.SecondsOption;
import io.penstock.node.serve.Stop;
import io.penstock.node.text.Reason;
import io.penstock.wire.transport.Endpoint;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import reactor.netty.ChannelBindException;

/// Options of an engine behind HTTP, and its life.
final class ServedOptions {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  /// Gateways see within this time that the engine drains.
  private static final Duration NOTICE = Duration.ofSeconds(3);

  @Option(names = "--role", required = true, paramLabel = "ROLE",
      description = "prefill, decode or both: serve an engine until a signal.")
  private EngineRole role = EngineRole.BOTH;

  @Option(names = "--listen", paramLabel = "HOST:PORT", defaultValue = "127.0.0.1:8000",
      description = "Where to listen; port 0 takes a free one (default: ${DEFAULT-VALUE}).")
  private String listen = "127.0.0.1:8000";

  @Option(names = "--node", paramLabel = "HOST:PORT", description = "A node where all engines keep blocks.")
  private @Nullable String node;

  @Option(names = "--register", paramLabel = "HOST:PORT", split = ",",
      description = "A node with a registry (penstock serve --registry true), where gateways find the engine; several"
          + " of one cluster, with commas between, stand in for each other.")
  private List<String> registries = List.of();

  @Option(names = "--name", paramLabel = "NAME",
      description = "Name of the engine in the registry (default: its role and where it listens).")
  private @Nullable String name;

  @Option(names = "--url", paramLabel = "URL",
      description = "Where gateways reach the engine (default: where it listens).")
  private @Nullable URI url;

  @Option(names = "--drain-time", paramLabel = "TIME", converter = SecondsOption.class, defaultValue = "30",
      description = "How long requests may run on after a signal (default: ${DEFAULT-VALUE}).")
  private Duration drainTime = Duration.ofSeconds(30);

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

  @Option(names = "--json", description = "Print a line for machines when the engine listens.")
  private boolean json;

  /// What a machine learns when the engine listens.
  ///
  /// @param address as `host:port`
  /// @param blocks where it hands blocks over; null if it does not
  private record Ready(String address, @Nullable String blocks) {}

  /// Serves until a signal, or until this thread is interrupted. Then running requests end.
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
    registries.forEach(ServedOptions::registry);
    TransformerServer server = TransformerServer.start(new ToyTransformer(seed, maxTokens), options, http)
        .onErrorMap(ChannelBindException.class, taken -> new UncheckedIOException(new IOException(
            "--listen must be a free port of an address of this machine (was %s): %s; port 0 takes any that is free"
                .formatted(listen, Reason.ofCause(taken)),
            taken)))
        .blockOptional(PATIENCE).orElseThrow();
    @Nullable EngineRegistration registered = null;
    Stop stop = Stop.onSignals();
    try {
      registered = registered(server);
      console.say("%s of %s listens on %s%s".formatted(word(), server.engine().model(), server.http().address(),
          server.engine().address().map(address -> ", hands blocks over at " + address).orElse("")));
      if (json) {
        console.json(new Ready(server.http().address(), server.engine().address().orElse(null)));
      }
      stop.await();
      if (registered != null) {
        registered.drain().block(PATIENCE);
      }
      server.http().idle(registered == null ? Duration.ZERO : NOTICE).timeout(drainTime)
          .onErrorComplete().block();
    } finally {
      if (registered != null) {
        registered.close().block(PATIENCE);
      }
      server.close().block(PATIENCE);
    }
  }

  private static Endpoint registry(String text) {
    try {
      return Endpoint.parse(text);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("--register must be HOST:PORT, or several with commas between (was " + text
          + ")", e);
    }
  }

  private String word() {
    return role.name().toLowerCase(Locale.ROOT);
  }

  private @Nullable EngineRegistration registered(TransformerServer server) {
    if (registries.isEmpty()) {
      return null;
    }
    String address = server.http().address();
    String named = name == null ? word() + "-" + address : name;
    return new EngineRegistration(registries.stream().map(ServedOptions::registry).toList(), named, role,
        url == null ? URI.create("http://" + address) : url,
        server.engine().address().orElse(address), server.model());
  }
}
