package io.penstock.resp;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.testkit.Eventually;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/// A Redis, where `redis-server` is installed; else the test is skipped.
final class RedisServer implements AutoCloseable {
  private final int port;
  private final Process process;

  /// @param folder for its files
  /// @param options those that it needs beside the usual ones
  RedisServer(Path folder, String... options) throws IOException {
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    List<String> command = Stream.concat(Stream.of("redis-server", "--bind", "127.0.0.1", "--port",
        Integer.toString(port), "--save", "", "--appendonly", "no", "--dir", folder.toString()), Stream.of(options))
        .toList();
    try {
      process = new ProcessBuilder(command).redirectErrorStream(true)
          .redirectOutput(folder.resolve("redis-" + port + ".log").toFile()).start();
    } catch (IOException e) {
      assumeTrue(false, "redis-server is not installed");
      throw e;
    }
    Eventually.holds("Redis answers", this::answers);
  }

  private boolean answers() {
    try (RespClient client = connect()) {
      return client.call("PING").matches("\\+PONG|-NOAUTH.*");
    } catch (IOException e) {
      return false;
    }
  }

  RespClient connect() throws IOException {
    return new RespClient(port);
  }

  int port() {
    return port;
  }

  @Override
  public void close() {
    process.destroyForcibly().onExit().join();
  }
}
