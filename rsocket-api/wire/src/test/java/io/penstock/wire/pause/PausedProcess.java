package io.penstock.wire.pause;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/// A [PauseRole] in a process that can be stopped and continued. Collects its lines.
final class PausedProcess implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(3);
  /// Notified of each line of any process.
  private static final Object NEWS = new Object();

  private final String name;
  private final Process process;
  private final List<String> lines = new CopyOnWriteArrayList<>();

  private PausedProcess(String name, Process process) {
    this.name = name;
    this.process = process;
    Thread.ofPlatform().daemon().name("lines of " + name).start(this::collect);
  }

  static PausedProcess start(String role, int number, PauseLimits limits, int... ports) throws IOException {
    List<String> command = new ArrayList<>(List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx64m", "-Xshare:auto",
        "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(flag -> flag.startsWith("--")).toList());
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), PauseRole.class.getName(), role, "" + number,
        "" + limits.heartbeat().toMillis(), "" + limits.lease().toMillis()));
    for (int port : ports) {
      command.add("" + port);
    }
    return new PausedProcess(role + "-" + number,
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
  }

  private void collect() {
    try (BufferedReader reader = process.inputReader()) {
      reader.lines().forEach(this::add);
      add("end of output");
    } catch (IOException | UncheckedIOException e) {
      add("unreadable " + e);
    }
  }

  private void add(String line) {
    synchronized (NEWS) {
      lines.add(line);
      NEWS.notifyAll();
    }
  }

  /// Waits until `condition` holds, looking at it after each line of any process.
  static void await(String what, List<PausedProcess> processes, BooleanSupplier condition) throws InterruptedException {
    long end = System.nanoTime() + PATIENCE.toNanos();
    synchronized (NEWS) {
      while (!condition.getAsBoolean()) {
        long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
        if (left <= 0) {
          throw new AssertionError("within " + PATIENCE + " it must hold that " + what
              + " (did not); the last lines were " + processes.stream().map(PausedProcess::lastLines).toList());
        }
        NEWS.wait(left);
      }
    }
  }

  String name() {
    return name;
  }

  List<String> lines() {
    return List.copyOf(lines);
  }

  List<String> lines(String first) {
    return lines.stream().filter(line -> line.startsWith(first + " ") || line.equals(first)).toList();
  }

  int port() {
    return Integer.parseInt(lines("port").getFirst().substring("port ".length()));
  }

  private String lastLines() {
    return name + ": " + lines.subList(Math.max(0, lines.size() - 6), lines.size());
  }

  /// Stops the process by a signal for `time`, as a debugger or a paused container does.
  void standStill(Duration time) throws IOException, InterruptedException {
    signal("-STOP");
    if (process.waitFor(time.toMillis(), TimeUnit.MILLISECONDS)) {
      throw new AssertionError(name + " must live (ended: " + lines + ")");
    }
    signal("-CONT");
  }

  private void signal(String signal) throws IOException, InterruptedException {
    int code = new ProcessBuilder("kill", signal, "" + process.pid()).inheritIO().start().waitFor();
    if (code != 0) {
      throw new AssertionError("kill " + signal + " of " + name + " must succeed (was " + code + ")");
    }
  }

  /// Lets no further work begin.
  void endLoad() throws IOException {
    process.getOutputStream().write('\n');
    process.getOutputStream().flush();
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
