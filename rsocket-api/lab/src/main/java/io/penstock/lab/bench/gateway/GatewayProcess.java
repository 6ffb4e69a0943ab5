package io.penstock.lab.bench.gateway;

import io.penstock.node.cli.OwnCommand;
import io.penstock.node.text.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// A gateway before one engine, in a process of its own, as the launcher starts it.
final class GatewayProcess implements AutoCloseable {
  private static final String MAIN = "io.penstock.gateway.GatewayMain";
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final Duration LOOK = Duration.ofMillis(50);
  private static final String MEMORY = "VmRSS:";

  private final Process process;
  private final Scheduler timer;
  private final String url;

  private GatewayProcess(Process process, Scheduler timer, String url) {
    this.process = process;
    this.timer = timer;
    this.url = url;
  }

  /// Starts a gateway, and waits until its engine answers.
  ///
  /// @param log the file of its log
  /// @param timer of its waits
  /// @param flags beside the engine and the ports
  static GatewayProcess start(String engine, Path log, AnswerClient client, Scheduler timer,
      String... flags) throws IOException {
    List<String> arguments = new ArrayList<>(List.of("gateway", "--both", engine, "--listen-port", "0", "--admin-port",
        "off", "--health-interval", "500ms", "--json"));
    arguments.addAll(List.of(flags));
    Process process = new ProcessBuilder(OwnCommand.of(List.of(), MAIN, arguments)).redirectError(log.toFile()).start();
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly, "penstock-bench-gateway"));
    String line =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8)).readLine();
    if (line == null) {
      throw new IOException("the gateway ended before it was ready: " + Files.readString(log).strip());
    }
    GatewayProcess gateway = new GatewayProcess(process, timer, Json.MAPPER.readTree(line).path("url").asString());
    try {
      client.text(gateway.url + "/health").filter(health -> health.contains("ready"))
          .repeatWhenEmpty(times -> times.delayElements(LOOK, timer)).timeout(PATIENCE, timer).block();
      return gateway;
    } catch (RuntimeException e) {
      gateway.close();
      throw new IOException("the gateway must find its engine within " + PATIENCE.toSeconds() + " s", e);
    }
  }

  String url() {
    return url;
  }

  /// CPU time so far, to 10 ms.
  long cpuNanos() {
    return process.info().totalCpuDuration().map(Duration::toNanos).orElse(0L);
  }

  /// Resident memory; 0 where the system does not tell it.
  long residentBytes() {
    try {
      return Files.readAllLines(Path.of("/proc/" + process.pid() + "/status")).stream()
          .filter(line -> line.startsWith(MEMORY))
          .mapToLong(line -> Long.parseLong(line.substring(MEMORY.length()).replace("kB", "").strip()) << 10)
          .findFirst()
          .orElse(0);
    } catch (IOException e) {
      return 0;
    }
  }

  @Override
  public void close() {
    process.destroy();
    Mono.fromFuture(process.onExit()).timeout(PATIENCE, Mono.fromSupplier(process::destroyForcibly), timer).block();
  }
}
