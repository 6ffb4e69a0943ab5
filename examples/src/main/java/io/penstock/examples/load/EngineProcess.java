package io.penstock.examples.load;

import io.penstock.examples.process.OtherJvm;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/// `penstock example engine` in a process of its own. One that was killed can start again at the same address.
final class EngineProcess implements AutoCloseable {
  private static final String ANY_PORT = "127.0.0.1:0";

  private final String role;
  private final Settings settings;
  private final String address;
  private Process process;

  /// How engines run.
  ///
  /// @param maxTokens most tokens of a prompt and its answer
  /// @param slots requests that are computed side by side
  /// @param tokenMillis least time of a generated token
  /// @param node where engines keep blocks, as `host:port`; null for engines that look for no blocks of earlier prompts
  record Settings(long seed, int maxTokens, int slots, int tokenMillis, @Nullable String node) {}

  private EngineProcess(String role, Settings settings) throws IOException {
    this.role = role;
    this.settings = settings;
    this.process = begin(ANY_PORT);
    this.address = listening();
  }

  /// Starts one on a free port.
  ///
  /// @param role `prefill` or `decode`
  static EngineProcess start(String role, Settings settings) throws IOException {
    return new EngineProcess(role, settings);
  }

  private Process begin(String listen) throws IOException {
    List<String> arguments = new ArrayList<>(List.of("engine", "--json", "--role", role, "--listen", listen,
        "--seed", String.valueOf(settings.seed()), "--max-tokens", String.valueOf(settings.maxTokens()),
        "--slots", String.valueOf(settings.slots()), "--token-time", String.valueOf(settings.tokenMillis())));
    arguments.addAll(settings.node() == null ? List.of("--no-reuse") : List.of("--node", settings.node()));
    return OtherJvm.start(Cluster.SMALL, arguments);
  }

  private String listening() throws IOException {
    return JsonMapper.shared().readTree(Cluster.firstLine(process)).path("address").asString();
  }

  String role() {
    return role;
  }

  /// As `host:port`, which is its name at the gateway, too.
  String address() {
    return address;
  }

  /// SIGKILL. Returns when the process is gone.
  void kill() {
    process.destroyForcibly().onExit().join();
  }

  /// Starts again at the same address.
  void restart() throws IOException {
    process = begin(address);
    listening();
  }

  @Override
  public void close() {
    process.destroy();
    process.onExit().join();
  }

  @Override
  public String toString() {
    return role + " " + address;
  }
}
