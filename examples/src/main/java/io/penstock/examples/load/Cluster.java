package io.penstock.examples.load;

import io.penstock.examples.process.OtherJvm;
import io.penstock.node.cli.OwnCommand;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.http.HttpClient;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Two prefills, two decodes and a node, each in a process of its own.
final class Cluster implements AutoCloseable {
  private static final Pattern LISTENS = Pattern.compile("listens on (\\S+:\\d+)");
  private static final List<String> SMALL = List.of("-Xmx256m");

  private final List<Process> processes = new ArrayList<>();
  private final List<String> prefills = new ArrayList<>();
  private final List<String> decodes = new ArrayList<>();

  private Cluster() {}

  /// @param reuse whether engines look for blocks of earlier prompts
  static Cluster start(long seed, int maxTokens, boolean reuse) throws IOException {
    Cluster cluster = new Cluster();
    try {
      @Nullable String node = reuse ? cluster.node() : null;
      for (int i = 0; i < 2; i++) {
        cluster.prefills.add(cluster.engine("prefill", seed, maxTokens, node));
        cluster.decodes.add(cluster.engine("decode", seed, maxTokens, node));
      }
      return cluster;
    } catch (IOException | RuntimeException e) {
      cluster.close();
      throw e;
    }
  }

  private String node() throws IOException {
    Process process = new ProcessBuilder(OwnCommand.of(SMALL,
        "io.penstock.node.PenstockMain", List.of("serve", "--json", "--spaces-open", "true", "--dram", "256MiB",
            "--listen-port", "0", "--admin-port", "0")))
        .redirectError(ProcessBuilder.Redirect.INHERIT).start();
    processes.add(process);
    JsonNode ready = JsonMapper.shared().readTree(firstLine(process));
    return ready.path("host").asString() + ":" + ready.path("port").asInt();
  }

  private String engine(String role, long seed, int maxTokens, @Nullable String node) throws IOException {
    List<String> arguments = new ArrayList<>(List.of("engine", "--role", role, "--listen", "127.0.0.1:0", "--seed",
        String.valueOf(seed), "--max-tokens", String.valueOf(maxTokens)));
    arguments.addAll(node == null ? List.of("--no-reuse") : List.of("--node", node));
    Process process = OtherJvm.start(SMALL, arguments);
    processes.add(process);
    Matcher address = LISTENS.matcher(firstLine(process));
    if (!address.find()) {
      throw new IOException("engine must say where it listens");
    }
    return address.group(1);
  }

  private static String firstLine(Process process) throws IOException {
    BufferedReader lines = process.inputReader();
    String line = lines.readLine();
    if (line == null) {
      throw new IOException("a process must start (ended with code " + process.onExit().join().exitValue() + ")");
    }
    return line;
  }

  /// The engines without a gateway.
  ChatTarget pairs(HttpClient client, LongSupplier nanos) {
    return new PairsTarget(targets(client, prefills, nanos), targets(client, decodes, nanos), nanos);
  }

  private static List<HttpTarget> targets(HttpClient client, List<String> addresses, LongSupplier nanos) {
    return addresses.stream().map(address -> new HttpTarget(client, address, nanos)).toList();
  }

  @Override
  public void close() {
    processes.forEach(Process::destroy);
    processes.forEach(process -> process.onExit().join());
  }
}
