package io.penstock.examples.load;

import io.penstock.node.cli.OwnCommand;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Two prefills, two decodes, a node and a gateway, each in a process of its own.
final class Cluster implements AutoCloseable {
  static final List<String> SMALL = List.of("-Xmx256m");
  private static final int EACH = 2;
  private static final String TOKEN = "token";

  private final HttpClient client;
  private final LongSupplier nanos;
  private final List<Process> processes = new ArrayList<>();
  private final List<EngineProcess> prefills = new ArrayList<>();
  private final List<EngineProcess> decodes = new ArrayList<>();
  /// Of the administration's token.
  private @Nullable Path folder;
  private String gateway = "";
  private @Nullable GatewayAdmin admin;

  private Cluster(HttpClient client, LongSupplier nanos) {
    this.client = client;
    this.nanos = nanos;
  }

  /// How a cluster runs.
  ///
  /// @param slots requests that an engine computes side by side
  /// @param tokenMillis least time of a generated token
  /// @param reuse whether engines look for blocks of earlier prompts
  record Settings(long seed, int maxTokens, int slots, int tokenMillis, boolean reuse) {}

  /// Starts all processes. Returns when the gateway takes requests for all engines.
  ///
  /// @param nanos a monotonic clock
  static Cluster start(Settings settings, HttpClient client, LongSupplier nanos)
      throws IOException, InterruptedException {
    Cluster cluster = new Cluster(client, nanos);
    try {
      @Nullable String node = settings.reuse() ? cluster.node() : null;
      EngineProcess.Settings engine = new EngineProcess.Settings(settings.seed(), settings.maxTokens(),
          settings.slots(), settings.tokenMillis(), node);
      for (int i = 0; i < EACH; i++) {
        cluster.prefills.add(EngineProcess.start("prefill", engine));
        cluster.decodes.add(EngineProcess.start("decode", engine));
      }
      cluster.gateway();
      return cluster;
    } catch (IOException | RuntimeException | InterruptedException e) {
      cluster.close();
      throw e;
    }
  }

  private String node() throws IOException {
    JsonNode ready =
        ready("io.penstock.node.PenstockMain", List.of("serve", "--json", "--spaces-open", "true", "--dram",
            "256MiB", "--listen-port", "0", "--admin-port", "off"));
    return ready.path("host").asString() + ":" + ready.path("port").asInt();
  }

  private void gateway() throws IOException, InterruptedException {
    Path secret = Files.createTempDirectory("penstock-load");
    folder = secret;
    Path file = secret.resolve(TOKEN);
    JsonNode ready = ready("io.penstock.gateway.GatewayMain", List.of("gateway", "--json", "--dialect", "nixl-pull",
        "--prefill", urls(prefills), "--decode", urls(decodes), "--listen-port", "0", "--admin-port", "0",
        "--admin-token-file", file.toString(), "--health-interval", "500ms", "--log-level", "warn"));
    gateway = ready.path("url").asString().replace("http://", "");
    GatewayAdmin opened =
        new GatewayAdmin(client, ready.path("admin").asString(), Files.readString(file).strip(), nanos);
    admin = opened;
    for (EngineProcess engine : engines()) {
      opened.awaitUp(engine.address());
    }
  }

  private static String urls(List<EngineProcess> engines) {
    return engines.stream().map(engine -> "http://" + engine.address()).collect(Collectors.joining(","));
  }

  private JsonNode ready(String main, List<String> arguments) throws IOException {
    Process process = new ProcessBuilder(OwnCommand.of(SMALL, main, arguments))
        .redirectError(ProcessBuilder.Redirect.INHERIT).start();
    processes.add(process);
    return JsonMapper.shared().readTree(firstLine(process));
  }

  static String firstLine(Process process) throws IOException {
    BufferedReader lines = process.inputReader();
    String line = lines.readLine();
    if (line == null) {
      throw new IOException("a process must start (ended with code " + process.onExit().join().exitValue() + ")");
    }
    return line;
  }

  List<EngineProcess> prefills() {
    return List.copyOf(prefills);
  }

  List<EngineProcess> decodes() {
    return List.copyOf(decodes);
  }

  List<EngineProcess> engines() {
    return Stream.concat(prefills.stream(), decodes.stream()).toList();
  }

  GatewayAdmin admin() {
    if (admin == null) {
      throw new IllegalStateException("The gateway has not started.");
    }
    return admin;
  }

  /// The gateway.
  ChatTarget gatewayTarget() {
    return new HttpTarget(client, gateway, nanos);
  }

  /// The engines without the gateway.
  ChatTarget pairs() {
    return new PairsTarget(targets(prefills), targets(decodes), nanos);
  }

  private List<HttpTarget> targets(List<EngineProcess> engines) {
    return engines.stream().map(engine -> new HttpTarget(client, engine.address(), nanos)).toList();
  }

  /// Ends all processes, the gateway first.
  @Override
  public void close() {
    processes.reversed().forEach(Process::destroy);
    engines().forEach(EngineProcess::close);
    processes.forEach(process -> process.onExit().join());
    Path secret = folder;
    if (secret != null) {
      try {
        Files.deleteIfExists(secret.resolve(TOKEN));
        Files.deleteIfExists(secret);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
