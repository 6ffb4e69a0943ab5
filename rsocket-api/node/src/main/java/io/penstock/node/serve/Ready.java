package io.penstock.node.serve;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.penstock.block.CacheSpace;
import io.penstock.node.cli.Json;
import io.penstock.node.config.LayoutSettings;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.config.SpaceSettings;
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
/// @param model with `space`, `layout` and `blockBytes`: of the first space where the node has several
/// @param space of the blocks, as their keys begin
/// @param layout of a block, as [LayoutSettings#words] writes it
/// @param spaces a line for each of several spaces, as [SpaceSettings#words] writes it; null if there is one
record Ready(String host, int port, @Nullable String adminHost, @Nullable Integer adminPort,
    List<Integer> kvEventPorts, String model,
    String space, String layout, int blockBytes,
    @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable List<String> spaces,
    long pid) {
  static Ready of(Node node, NodeConfig config) {
    boolean hasAdmin = node.adminPort().isPresent();
    List<SpaceSettings> several = config.spaces();
    CacheSpace space = several.isEmpty() ? config.space() : several.getFirst().space();
    return new Ready(config.get(NodeSettings.LISTEN_HOST), node.port(),
        hasAdmin ? config.get(NodeSettings.ADMIN_HOST) : null,
        hasAdmin ? (Integer) node.adminPort().getAsInt() : null, node.kvEventPorts(), space.model(),
        space.id().toString(),
        LayoutSettings.words(space.layout()), space.layout().blockBytes(),
        several.isEmpty() ? null : several.stream().map(SpaceSettings::words).toList(), ProcessHandle.current().pid());
  }

  /// For people: a line, and one for each space.
  String sentence() {
    return "serving on " + host + ":" + port
        + (adminPort == null ? "" : ", admin on http://" + adminHost + ":" + adminPort)
        + (kvEventPorts.isEmpty() ? "" : ", KV events on port " + kvEventPorts.getFirst())
        + (kvEventPorts.size() < 2 ? "" : ", replay on port " + kvEventPorts.getLast())
        + "\n" + (spaces == null ? "blocks of " + model + ": " + layout : String.join("\n", spaces));
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
