package io.penstock.lab.bench.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The nodes of one cluster on this host. For one thread.
final class NodeGroup implements AutoCloseable {
  private static final String HOST = "127.0.0.1";

  private final Path folder;
  private final List<String> jvm;
  private final List<String> flags;
  private final @Nullable Path launcher;
  private final List<NodeProcess> nodes = new ArrayList<>();

  private NodeGroup(Path folder, List<String> jvm, List<String> flags, @Nullable Path launcher) {
    this.folder = folder;
    this.jvm = jvm;
    this.flags = flags;
    this.launcher = launcher;
  }

  /// Starts nodes `n1`, `n2` and so on, the first one before the others, and waits until all serve.
  ///
  /// @param jvm flags of their JVMs
  /// @param flags of `serve` for all of them; `%s` stands for the name
  static NodeGroup start(Path folder, int nodes, List<String> jvm, List<String> flags) throws IOException {
    return start(folder, nodes, jvm, flags, null);
  }

  /// @param launcher of the release that they have; null for that of this program
  static NodeGroup start(Path folder, int nodes, List<String> jvm, List<String> flags, @Nullable Path launcher)
      throws IOException {
    NodeGroup group = new NodeGroup(folder, jvm, flags, launcher);
    try {
      group.launch().awaitReady();
      while (group.nodes.size() < nodes) {
        group.launch();
      }
      for (NodeProcess node : group.nodes) {
        node.awaitReady();
      }
      return group;
    } catch (IOException | RuntimeException e) {
      group.close();
      throw e;
    }
  }

  /// Starts one more, and does not wait.
  NodeProcess launch() throws IOException {
    String name = "n" + (nodes.size() + 1);
    List<String> own = flags.stream().map(flag -> flag.replace("%s", name)).toList();
    NodeProcess node = NodeProcess.of(
        new NodeProcess.Start(name, folder, List.of(), jvm, HOST, 0, seeds(nodes), own).withLauncher(launcher));
    nodes.add(node);
    return node;
  }

  private static List<String> seeds(List<NodeProcess> of) {
    return of.stream().filter(NodeProcess::isReady).limit(1).map(NodeProcess::seed).toList();
  }

  /// Stops one as SIGTERM does, and starts it again at its ports, as the release of this program.
  void replace(int index) throws IOException {
    NodeProcess old = nodes.get(index);
    old.stop();
    old.awaitEnd();
    List<String> seeds = nodes.stream().filter(node -> node != old).map(NodeProcess::seed).toList();
    NodeProcess again = NodeProcess.of(old.start().withLauncher(null).withPort(port(old.endpoint()))
        .withTalk(port(old.seed()), seeds));
    nodes.set(index, again);
    again.awaitReady();
  }

  private static int port(String address) {
    return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
  }

  /// Stops all of them as SIGTERM does, and starts them again where they were, all at once.
  void restart() throws IOException {
    nodes.forEach(NodeProcess::stop);
    nodes.forEach(NodeProcess::awaitEnd);
    List<String> seeds = nodes.stream().map(NodeProcess::seed).toList();
    List<NodeProcess> again = new ArrayList<>();
    for (int i = 0; i < nodes.size(); i++) {
      String own = seeds.get(i);
      again.add(NodeProcess.of(nodes.get(i).start().withTalk(port(own),
          seeds.stream().filter(seed -> !seed.equals(own)).toList())));
    }
    nodes.clear();
    nodes.addAll(again);
    for (NodeProcess node : nodes) {
      node.awaitReady();
    }
  }

  /// In the order in which they started.
  List<NodeProcess> nodes() {
    return List.copyOf(nodes);
  }

  /// Where clients reach them.
  List<String> endpoints() {
    return nodes.stream().map(NodeProcess::endpoint).toList();
  }

  long cpuNanos() {
    return nodes.stream().mapToLong(NodeProcess::cpuNanos).sum();
  }

  @Override
  public void close() {
    nodes.forEach(NodeProcess::kill);
    nodes.forEach(NodeProcess::close);
  }
}
