package io.penstock.lab.bench.doors;

import io.penstock.lab.bench.side.Installed;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.OwnCommand;
import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// A server of Redis' protocol in a process of its own.
final class DoorProcess implements AutoCloseable {
  private static final String SERVER = "redis-server";
  private static final long PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(3);
  private static final long PAUSE_MILLIS = 50;

  private final Process process;
  private final int port;

  private DoorProcess(Process process, int port) {
    this.process = process;
    this.port = port;
  }

  /// A node with values alone.
  ///
  /// @param loops network threads
  static DoorProcess node(Path folder, long dramBytes, int loops) throws IOException {
    int port = freePort();
    return started(OwnCommand.of(List.of("serve", "--listen-port", "0", "--admin-port", "off", "--dram",
        Long.toString(dramBytes), "--loops", Integer.toString(loops), "--resp", "127.0.0.1:" + port)), port,
        folder.resolve("node.log").toFile());
  }

  /// A Redis server that keeps nothing on disk; null, and a line that says so, where none is installed.
  static @Nullable DoorProcess redis(Console console) throws IOException {
    Path server = Installed.program(SERVER, "bench doors: the node alone", console);
    if (server == null) {
      return null;
    }
    int port = freePort();
    return started(List.of(server.toString(), "--port", "" + port, "--bind", "127.0.0.1", "--save", "", "--appendonly",
        "no"), port, null);
  }

  private static int freePort() throws IOException {
    try (ServerSocket free = new ServerSocket(0)) {
      return free.getLocalPort();
    }
  }

  private static DoorProcess started(List<String> command, int port, @Nullable File log) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.redirectOutput(log == null ? ProcessBuilder.Redirect.DISCARD : ProcessBuilder.Redirect.to(log));
    DoorProcess started = new DoorProcess(builder.start(), port);
    try {
      started.awaitReady();
      return started;
    } catch (IOException e) {
      started.close();
      throw log == null ? e : new IOException("node must serve (did not: " + Files.readString(log.toPath()) + ")", e);
    }
  }

  private void awaitReady() throws IOException {
    long begun = System.nanoTime();
    while (true) {
      try (Socket _ = new Socket("127.0.0.1", port)) {
        return;
      } catch (IOException e) {
        if (!process.isAlive() || System.nanoTime() - begun > PATIENCE_NANOS) {
          throw e;
        }
        pause();
      }
    }
  }

  private static void pause() throws IOException {
    try {
      Thread.sleep(PAUSE_MILLIS);
    } catch (InterruptedException e) {
      throw new IOException("a benchmark must not be interrupted", e);
    }
  }

  int port() {
    return port;
  }

  /// CPU time of the process so far; the system counts it in hundredths of a second.
  long cpuNanos() {
    return process.info().totalCpuDuration().orElse(Duration.ZERO).toNanos();
  }

  @Override
  public void close() {
    process.destroy();
    process.onExit().join();
  }
}
