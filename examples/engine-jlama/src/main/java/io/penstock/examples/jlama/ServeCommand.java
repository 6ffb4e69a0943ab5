package io.penstock.examples.jlama;

import io.penstock.examples.openai.EngineServer;
import io.penstock.examples.openai.EngineServerOptions;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.option.SecondsOption;
import io.penstock.node.serve.BindFailure;
import io.penstock.wire.PenstockClient;
import io.penstock.wire.PenstockNode;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.ChannelBindException;

/// `jlama serve`.
@Command(name = "serve", mixinStandardHelpOptions = true,
    description = {"Serves a model: /v1/completions, /v1/chat/completions, /v1/models, /health, /metrics. Keeps the KV"
        + " cache of prompts and answers in a node. Runs until SIGTERM.",
      ""})
final class ServeCommand implements Callable<Integer> {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final long BLOCKS = 100_000;

  private final Console console;
  private final CountDownLatch stopped = new CountDownLatch(1);
  private final CountDownLatch ended = new CountDownLatch(1);

  @Parameters(paramLabel = "MODEL", description = "Folder of a model in Hugging Face form.")
  private Path model = Path.of("");

  @Option(names = "--node", paramLabel = "HOST:PORT", description = "Where the node is (default: one in this process).")
  private @Nullable String node;

  @Option(names = "--role", paramLabel = "ROLE", defaultValue = "both",
      description = "${COMPLETION-CANDIDATES}: prefill answers one token, decode and both any number"
          + " (default: ${DEFAULT-VALUE}).")
  private JlamaServing.Role role = JlamaServing.Role.BOTH;

  @Option(names = "--host", paramLabel = "HOST", defaultValue = "127.0.0.1",
      description = "Address to listen on (default: ${DEFAULT-VALUE}).")
  private String host = "";

  @Option(names = "--port", paramLabel = "PORT", defaultValue = "8000",
      description = "Port to listen on; 0 for a free one (default: ${DEFAULT-VALUE}).")
  private int port;

  @Option(names = "--slots", paramLabel = "N", defaultValue = "4",
      description = "Requests that are computed by turns (default: ${DEFAULT-VALUE}).")
  private int slots;

  @Option(names = "--queue", paramLabel = "N", defaultValue = "256",
      description = "Requests that may wait for a slot (default: ${DEFAULT-VALUE}).")
  private int queue;

  @Option(names = "--patience", paramLabel = "SECONDS", defaultValue = "2", converter = SecondsOption.class,
      description = "How long a request waits for each layer of its prefix before it computes all"
          + " (default: ${DEFAULT-VALUE}).")
  private Duration patience = Duration.ZERO;

  ServeCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws InterruptedException {
    Runtime.getRuntime().addShutdownHook(new Thread(this::stop, "jlama-stop"));
    try (JlamaEngine engine = JlamaEngine.load(model)) {
      return node != null ? serve(engine, node) : serveWithNode(engine);
    } finally {
      ended.countDown();
    }
  }

  /// Ends the command at SIGTERM and SIGINT. The JVM waits for it.
  private void stop() {
    stopped.countDown();
    try {
      ended.await(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private int serveWithNode(JlamaEngine engine) throws InterruptedException {
    PenstockNode own = PenstockNode.start(engine.space(), BLOCKS).blockOptional(PATIENCE).orElseThrow();
    try {
      return serve(engine, own.address());
    } finally {
      own.close().block(PATIENCE);
    }
  }

  private int serve(JlamaEngine engine, String address) throws InterruptedException {
    PenstockClient client = PenstockClient.connect(address, engine.space()).blockOptional(PATIENCE).orElseThrow();
    Scheduler sender = Schedulers.newSingle("jlama-sender", true);
    try {
      JlamaServing serving =
          new JlamaServing(engine, new JlamaCache(client, sender, patience), role, address, slots);
      EngineServer.Running server = EngineServer.start(serving,
          EngineServerOptions.of(host, port).withSlots(slots).withQueue(queue), Clock.systemUTC())
          .onErrorMap(ChannelBindException.class,
              taken -> new UncheckedIOException(BindFailure.of(new BindFailure.Said("--host", "--host", host, "--host"),
                  new BindFailure.Said("--port", "--port", String.valueOf(port), "--port"), taken)))
          .blockOptional(PATIENCE).orElseThrow();
      console.print("jlama: %s serves %s at http://%s, blocks at %s".formatted(
          role.name().toLowerCase(Locale.ROOT), engine.name(), server.address(), address));
      stopped.await();
      server.close().block(PATIENCE);
      return ExitCode.OK;
    } finally {
      sender.dispose();
      client.close().block(PATIENCE);
    }
  }
}
