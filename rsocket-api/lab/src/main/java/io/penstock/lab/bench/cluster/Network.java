package io.penstock.lab.bench.cluster;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// Hosts that are network namespaces of Linux, joined by a bridge whose cables delay and lose packets
/// where the kernel can. This process is
/// at the bridge too. Only root can make one.
final class Network implements AutoCloseable {
  private static final String NET = "10.77.0.";
  private static final int PATIENCE_SECONDS = 20;

  private final String name;
  private final List<Integer> hosts = new ArrayList<>();
  private boolean delays = true;

  /// This machine or user cannot make one.
  static final class UnusableException extends IOException {
    private static final long serialVersionUID = 1;

    UnusableException(IOException cause) {
      super("network namespaces must be at hand (" + cause.getMessage() + ")", cause);
    }
  }

  private Network(String name) {
    this.name = name;
  }

  /// @param hosts numbered from 1
  /// @param cable words of `tc netem` for what each host sends
  /// @throws UnusableException if this machine or user cannot make one
  static Network of(int hosts, List<String> cable) throws IOException {
    Network network = new Network("pb" + ProcessHandle.current().pid() % 100_000);
    try {
      network.ip("link", "add", network.name, "type", "bridge");
      network.ip("addr", "add", NET + "254/24", "dev", network.name);
      network.ip("link", "set", network.name, "up");
      for (int host = 1; host <= hosts; host++) {
        network.add(host, cable);
      }
      return network;
    } catch (IOException e) {
      network.close();
      throw new UnusableException(e);
    }
  }

  private void add(int host, List<String> cable) throws IOException {
    String space = space(host);
    ip("netns", "add", space);
    hosts.add(host);
    ip("link", "add", cable(host), "type", "veth", "peer", "name", "eth0", "netns", space);
    ip("link", "set", cable(host), "master", name, "up");
    ip("-n", space, "addr", "add", address(host) + "/24", "dev", "eth0");
    ip("-n", space, "link", "set", "lo", "up");
    ip("-n", space, "link", "set", "eth0", "up");
    List<String> netem = new ArrayList<>(List.of("tc", "-n", space, "qdisc", "add", "dev", "eth0", "root", "netem"));
    netem.addAll(cable);
    try {
      run(netem);
    } catch (IOException e) {
      delays = false;
    }
  }

  /// Whether its cables delay and lose packets: not every kernel has `netem`.
  boolean delays() {
    return delays;
  }

  String address(int host) {
    return NET + host;
  }

  /// Words before a command that runs on `host`.
  List<String> on(int host) {
    return List.of("ip", "netns", "exec", space(host));
  }

  private String space(int host) {
    return name + "-" + host;
  }

  private String cable(int host) {
    return name + "v" + host;
  }

  void pull(int host) throws IOException {
    ip("link", "set", cable(host), "down");
  }

  void plug(int host) throws IOException {
    ip("link", "set", cable(host), "up");
  }

  private void ip(String... words) throws IOException {
    List<String> command = new ArrayList<>(List.of("ip"));
    command.addAll(List.of(words));
    run(command);
  }

  private static void run(List<String> command) throws IOException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    try {
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
        throw new IOException("'" + String.join(" ", command) + "' must work (did not: " + said + ")");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("'" + String.join(" ", command) + "' must end (was interrupted)", e);
    } finally {
      process.destroyForcibly();
    }
  }

  /// Takes all of it away, as far as it is there.
  @Override
  public void close() throws IOException {
    IOException failure = null;
    for (List<String> command : leftovers()) {
      try {
        run(command);
      } catch (IOException e) {
        failure = e;
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  private List<List<String>> leftovers() {
    List<List<String>> commands = new ArrayList<>();
    hosts.forEach(host -> commands.add(List.of("ip", "netns", "del", space(host))));
    if (Files.exists(Path.of("/sys/class/net", name))) {
      commands.add(List.of("ip", "link", "del", name));
    }
    return commands;
  }
}
