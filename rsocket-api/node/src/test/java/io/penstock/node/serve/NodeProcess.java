package io.penstock.node.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.PenstockMain;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.MissingNode;

/// `penstock serve` in a process of its own, on ports that were free.
public final class NodeProcess implements AutoCloseable {
  private static final String JAVA = Path.of(System.getProperty("java.home"), "bin", "java").toString();

  private final Process process;
  private final Path err;
  private final JsonNode ready;

  private NodeProcess(Process process, Path err, JsonNode ready) {
    this.process = process;
    this.err = err;
    this.ready = ready;
  }

  /// Starts a node with `--json` and waits for its line.
  ///
  /// @param folder for what it says on standard error
  public static NodeProcess start(Path folder, String... flags) throws IOException {
    List<String> jvmFlags = Stream.concat(accessFlags().stream(), QuickStart.flags().stream()).toList();
    return started(folder, command(QuickStart.classPath(), jvmFlags, flags));
  }

  /// Starts one in a JVM as the launcher makes it, not in one that starts quickly: for what is measured.
  ///
  /// @param heap most bytes of Java heap, as `-Xmx` takes them
  public static NodeProcess startAsLaunched(Path folder, String heap, String... flags) throws IOException {
    return started(folder, launched(heap, PenstockMain.class.getName(), serve(flags)));
  }

  /// The command line of a program in a JVM as the launcher makes it.
  ///
  /// @param main name of its class
  public static List<String> launched(String heap, String main, List<String> arguments) {
    String collector = arguments.getFirst().equals("serve") ? "-XX:+UseG1GC" : "-XX:+UseParallelGC";
    List<String> command = new ArrayList<>(List.of(JAVA, "-Xmx" + heap, collector));
    command.addAll(accessFlags());
    command.addAll(List.of("-cp", QuickStart.classPath(), main));
    command.addAll(arguments);
    return command;
  }

  private static NodeProcess started(Path folder, List<String> command) throws IOException {
    Path err = Files.createTempFile(folder, "node", ".err");
    Process process = begin(command, err);
    String line =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8)).readLine();
    assertThat(line).as(() -> "ready line; standard error: " + read(err)).isNotNull();
    return new NodeProcess(process, err, JsonMapper.shared().readTree(line));
  }

  /// Starts one with no right to the JDK's inside, which must not get as far as to say that it is ready.
  static NodeProcess startWithoutAccess(Path folder, String... flags) throws IOException {
    Path err = Files.createTempFile(folder, "node", ".err");
    Process process = begin(command(QuickStart.classPath(), List.of(), flags), err);
    assertThat(process.getInputStream().readAllBytes()).as("ready line").isEmpty();
    return new NodeProcess(process, err, MissingNode.getInstance());
  }

  private static Process begin(List<String> command, Path err) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command).redirectError(err.toFile());
    builder.environment().keySet().removeIf(name -> name.startsWith("PENSTOCK_"));
    return builder.start();
  }

  static List<String> command(String classPath, List<String> jvmFlags, String... flags) {
    List<String> command =
        new ArrayList<>(List.of(JAVA, "-Xmx128m", "-XX:MaxDirectMemorySize=512m", "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1"));
    command.addAll(jvmFlags);
    command.addAll(List.of("-cp", classPath, PenstockMain.class.getName()));
    command.addAll(serve(flags));
    return command;
  }

  private static List<String> serve(String... flags) {
    List<String> arguments = new ArrayList<>(List.of("serve", "--json", "--admin-port", "0"));
    arguments.addAll(List.of(flags));
    if (!arguments.contains("--listen-port")) {
      arguments.addAll(List.of("--listen-port", "0"));
    }
    return arguments;
  }

  /// What this process was allowed of native code and of the JDK's inside.
  static List<String> accessFlags() {
    return ManagementFactory.getRuntimeMXBean().getInputArguments().stream().filter(flag -> flag.startsWith("--"))
        .toList();
  }

  public int port() {
    return ready.get("port").asInt();
  }

  public int adminPort() {
    return ready.get("adminPort").asInt();
  }

  long pid() {
    return ready.get("pid").asLong();
  }

  JsonNode ready() {
    return ready;
  }

  /// Port of its only door.
  public int doorPort() {
    String address = ready.get("doors").get(0).get("address").asString();
    return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
  }

  /// Sends SIGTERM.
  public void terminate() {
    process.destroy();
  }

  /// Sends SIGKILL.
  void kill() {
    process.destroyForcibly();
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /// Lets a moment pass, or less if the node ends: for a test that looks for something again and again.
  void pause() throws InterruptedException {
    process.waitFor(20, TimeUnit.MILLISECONDS);
  }

  public int exitCode() throws InterruptedException {
    assertThat(process.waitFor(30, TimeUnit.SECONDS)).as("the node ends; standard error: " + said()).isTrue();
    return process.exitValue();
  }

  /// What it wrote to standard error.
  public String said() {
    return read(err);
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
