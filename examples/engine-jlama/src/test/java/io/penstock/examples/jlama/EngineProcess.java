package io.penstock.examples.jlama;

import io.penstock.testkit.Eventually;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// `jlama serve` in a process of its own.
final class EngineProcess implements AutoCloseable {
  private static final Pattern ADDRESS = Pattern.compile("at http://(\\S+),");
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final Process process;
  private final Path out;
  private final Path log;

  private EngineProcess(Process process, Path out, Path log) {
    this.process = process;
    this.out = out;
    this.log = log;
  }

  /// @param folder for its outputs
  static EngineProcess start(Path folder, String name, Path model, String role, String node) throws IOException {
    Path logging = folder.resolve(name + ".xml");
    Files.writeString(logging, """
        <configuration><appender name="stderr" class="ch.qos.logback.core.ConsoleAppender"><target>System.err</target>
        <encoder><pattern>%msg%n</pattern></encoder></appender>
        <logger name="io.penstock.examples.jlama" level="DEBUG"/>
        <root level="WARN"><appender-ref ref="stderr"/></root></configuration>""");
    List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(flag -> flag.startsWith("--add") || flag.startsWith("--enable") || flag.startsWith("--sun"))
        .forEach(command::add);
    command.addAll(List.of("-Dlogback.configurationFile=" + logging, "-cp", System.getProperty("java.class.path"),
        JlamaMain.class.getName(), "serve", model.toString(), "--node", node, "--role", role, "--port", "0",
        "--patience", "20"));
    Path out = folder.resolve(name + ".out");
    Path log = folder.resolve(name + ".log");
    return new EngineProcess(
        new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(log.toFile()).start(), out, log);
  }

  /// Where it listens; waits until it does.
  String address() {
    Eventually.holds("the engine listens", PATIENCE, () -> address(out) != null);
    return address(out);
  }

  private static String address(Path out) {
    try {
      Matcher matcher = ADDRESS.matcher(Files.readString(out));
      return matcher.find() ? matcher.group(1) : null;
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /// What it said about its layers, in order.
  List<String> layers() throws IOException {
    try (var lines = Files.lines(log)) {
      return lines.filter(line -> line.startsWith("layer ")).collect(Collectors.toList());
    }
  }

  /// SIGKILL.
  void kill() {
    process.destroyForcibly().onExit().join();
  }

  @Override
  public void close() {
    kill();
  }
}
