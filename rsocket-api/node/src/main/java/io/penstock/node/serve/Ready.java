package io.penstock.node.serve;

import io.penstock.block.CacheSpace;
import io.penstock.node.cli.Json;
import io.penstock.node.config.LayoutSettings;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What a node reports when it is ready, for programs that wait for it.
///
/// @param adminPort null if the admin endpoints are off
/// @param kvEventPorts of KV events: events, then replay; empty if they are off
/// @param space of the blocks, as their keys begin
/// @param layout of a block, as [LayoutSettings#words] writes it
record Ready(String host, int port, @Nullable String adminHost, @Nullable Integer adminPort,
    List<Integer> kvEventPorts, String model,
    String space, String layout, int blockBytes, long pid) {
  static Ready of(Node node, NodeConfig config) {
    boolean hasAdmin = node.adminPort().isPresent();
    CacheSpace space = config.space();
    return new Ready(config.get(NodeSettings.LISTEN_HOST), node.port(),
        hasAdmin ? config.get(NodeSettings.ADMIN_HOST) : null,
        hasAdmin ? (Integer) node.adminPort().getAsInt() : null, node.kvEventPorts(), space.model(),
        space.id().toString(),
        LayoutSettings.words(space.layout()), space.layout().blockBytes(), ProcessHandle.current().pid());
  }

  /// For people: two lines.
  String sentence() {
    return "serving on " + host + ":" + port
        + (adminPort == null ? "" : ", admin on http://" + adminHost + ":" + adminPort)
        + (kvEventPorts.isEmpty() ? "" : ", KV events on port " + kvEventPorts.getFirst())
        + (kvEventPorts.size() < 2 ? "" : ", replay on port " + kvEventPorts.getLast())
        + "\nblocks of " + model + ": " + layout;
  }

  /// Removes `file` unless another node has written it since.
  void remove(Path file) throws IOException {
    if (Files.isRegularFile(file) && Files.readString(file).equals(line())) {
      Files.delete(file);
    }
  }

  private String line() {
    return Json.of(this) + "\n";
  }

  /// Writes the line in one step: a reader sees all of it or the file before.
  void write(Path file) throws IOException {
    Path whole = file.toAbsolutePath();
    Path part = whole.resolveSibling(whole.getFileName() + ".part");
    Files.writeString(part, line());
    Files.move(part, whole, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }
}
