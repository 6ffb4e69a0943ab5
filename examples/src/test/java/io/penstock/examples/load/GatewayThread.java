package io.penstock.examples.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.gateway.GatewayMain;
import io.penstock.node.cli.Console;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.PrintStream;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// `penstock gateway` on a thread of this process.
final class GatewayThread implements AutoCloseable {
  private final Thread thread;
  private final String address;
  private final GatewayAdmin admin;

  private GatewayThread(Thread thread, String address, GatewayAdmin admin) {
    this.thread = thread;
    this.address = address;
    this.admin = admin;
  }

  /// Starts one on free ports, with an administration.
  static GatewayThread start(HttpClient client, Path folder, String... flags) throws IOException {
    Path token = folder.resolve("token");
    List<String> arguments = new ArrayList<>(List.of("gateway", "--json", "--listen-port", "0", "--admin-port", "0",
        "--admin-token-file", token.toString(), "--log-level", "warn"));
    arguments.addAll(List.of(flags));
    try (PipedInputStream said = new PipedInputStream()) {
      Console console = new Console(InputStream.nullInputStream(),
          new PrintStream(new PipedOutputStream(said), true, StandardCharsets.UTF_8),
          new PrintStream(OutputStream.nullOutputStream()), false, Map.of());
      Thread thread = Thread.ofPlatform().name("gateway")
          .start(() -> GatewayMain.commandLine(console).execute(arguments.toArray(String[]::new)));
      String line = new BufferedReader(new InputStreamReader(said, StandardCharsets.UTF_8)).readLine();
      assertThat(line).as("line of a gateway that is ready").isNotNull();
      JsonNode ready = JsonMapper.shared().readTree(line);
      return new GatewayThread(thread, ready.path("url").asString().replace("http://", ""), new GatewayAdmin(client,
          ready.path("admin").asString(), Files.readString(token).strip(), System::nanoTime));
    }
  }

  /// As `host:port`.
  String address() {
    return address;
  }

  GatewayAdmin admin() {
    return admin;
  }

  @Override
  public void close() {
    thread.interrupt();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
