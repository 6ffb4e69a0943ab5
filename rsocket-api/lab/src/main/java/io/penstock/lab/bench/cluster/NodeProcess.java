package io.penstock.lab.bench.cluster;

import io.penstock.node.cli.OwnCommand;
import io.penstock.node.text.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// A member of a cluster, in a process of its own that ends with this one.
final class NodeProcess implements AutoCloseable {
  private static final String MAIN = "io.penstock.node.PenstockMain";
  /// Flags of a small JVM.
  static final List<String> SMALL =
      List.of("-Xmx256m", "-XX:-UseParallelGC", "-XX:+UseSerialGC", "-Xlog:disable", "-Xlog:all=off");
  private static final Duration PATIENCE = Duration.ofMinutes(3);
  private static final int LINES_SHOWN = 6;

  private final Start start;
  private final Process process;
  private @Nullable JsonNode ready;

  /// How a node starts.
  ///
  /// @param name in its cluster
  /// @param folder of its log
  /// @param before words before the command, such as those that choose a network
  /// @param jvm flags of its JVM
  /// @param host at which it serves and talks with other members
  /// @param port at which it serves; 0 for any
  /// @param clusterPort at which members talk; 0 for any
  /// @param seeds `HOST:PORT` of other members
  /// @param flags of `serve` besides
  /// @param launcher of another release; null for the program of this process
  record Start(String name, Path folder, List<String> before, List<String> jvm, String host, int port, int clusterPort,
      List<String> seeds, List<String> flags, @Nullable Path launcher) {
    Start {
      before = List.copyOf(before);
      jvm = List.copyOf(jvm);
      seeds = List.copyOf(seeds);
      flags = List.copyOf(flags);
    }

    Start(String name, Path folder, List<String> before, List<String> jvm, String host, int clusterPort,
        List<String> seeds, List<String> flags) {
      this(name, folder, before, jvm, host, 0, clusterPort, seeds, flags, null);
    }

    Start withTalk(int newPort, List<String> newSeeds) {
      return new Start(name, folder, before, jvm, host, port, newPort, newSeeds, flags, launcher);
    }

    Start withPort(int newPort) {
      return new Start(name, folder, before, jvm, host, newPort, clusterPort, seeds, flags, launcher);
    }

    Start withLauncher(@Nullable Path other) {
      return new Start(name, folder, before, jvm, host, port, clusterPort, seeds, flags, other);
    }

    private Path ready() {
      return folder.resolve(name + ".ready");
    }

    Path log() {
      return folder.resolve(name + ".log");
    }

    private List<String> command() {
      List<String> arguments = new ArrayList<>(List.of("serve", "--listen-host", host, "--listen-port",
          String.valueOf(port),
          "--admin-port", "off", "--loops", "1", "--cluster", "bench", "--cluster-node", name, "--cluster-host", host,
          "--cluster-port", String.valueOf(clusterPort), "--ready-file", ready().toString()));
      if (!seeds.isEmpty()) {
        arguments.addAll(List.of("--seeds", String.join(",", seeds)));
      }
      arguments.addAll(flags);
      List<String> command = new ArrayList<>(before);
      if (launcher == null) {
        command.addAll(OwnCommand.of(allJvm(), MAIN, arguments));
      } else {
        command.add(launcher.toString());
        command.addAll(arguments);
      }
      return command;
    }

    private List<String> allJvm() {
      return Stream.concat(SMALL.stream(), jvm.stream()).toList();
    }
  }

  private NodeProcess(Start start, Process process) {
    this.start = start;
    this.process = process;
  }

  /// Starts it, and does not wait.
  static NodeProcess of(Start start) throws IOException {
    Files.deleteIfExists(start.ready());
    ProcessBuilder builder = new ProcessBuilder(start.command()).redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.appendTo(start.log().toFile()));
    builder.environment().put("PENSTOCK_JAVA_OPTS", String.join(" ", start.allJvm())); // for a launcher
    return new NodeProcess(start, builder.start());
  }

  /// Waits until it serves.
  ///
  /// @throws IOException with the end of its log if it ends before, or takes too long
  NodeProcess awaitReady() throws IOException {
    if (!Waiting.until(PATIENCE, () -> Files.exists(start.ready()) || !process.isAlive())
        || !Files.exists(start.ready())) {
      List<String> lines = Files.readAllLines(start.log());
      throw new IOException("node %s must serve within %d s (did not: %s)".formatted(name(), PATIENCE.toSeconds(),
          String.join(" | ", lines.subList(Math.max(0, lines.size() - LINES_SHOWN), lines.size()))));
    }
    ready = Json.MAPPER.readTree(Files.readString(start.ready()));
    return this;
  }

  boolean isReady() {
    return Files.exists(start.ready());
  }

  String name() {
    return start.name();
  }

  Start start() {
    return start;
  }

  /// Where clients reach it, `HOST:PORT`.
  String endpoint() {
    return start.host() + ":" + told().path("port").asInt();
  }

  /// Where other members reach it, `HOST:PORT`.
  String seed() {
    return told().path("cluster").path("address").asString();
  }

  private JsonNode told() {
    JsonNode told = ready;
    if (told == null) {
      throw new IllegalStateException("node " + name() + " must be ready (was not)");
    }
    return told;
  }

  /// CPU time so far, to 10 ms.
  long cpuNanos() {
    return process.info().totalCpuDuration().map(Duration::toNanos).orElse(0L);
  }

  /// Ends it as `kill -9` does; does not wait.
  void kill() {
    process.destroyForcibly();
  }

  /// Ends it as SIGTERM does; does not wait.
  void stop() {
    process.destroy();
  }

  /// Waits for the end of a stopped one; kills it in the end.
  void awaitEnd() {
    if (!Waiting.until(PATIENCE, () -> !process.isAlive())) {
      close();
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
    process.onExit().join();
  }
}
