package io.penstock.node.serve;

import io.penstock.node.cli.Json;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.jspecify.annotations.Nullable;

/// What a node says when it is ready, for programs that wait for it.
///
/// @param adminPort null if the admin endpoints are off
record Ready(String host, int port, @Nullable String adminHost, @Nullable Integer adminPort, String space, long pid) {
  static Ready of(Node node, NodeConfig config) {
    boolean hasAdmin = node.adminPort().isPresent();
    return new Ready(config.get(NodeSettings.LISTEN_HOST), node.port(),
        hasAdmin ? config.get(NodeSettings.ADMIN_HOST) : null,
        hasAdmin ? (Integer) node.adminPort().getAsInt() : null, config.space().id().toString(),
        ProcessHandle.current().pid());
  }

  String sentence() {
    return "serving on " + host + ":" + port
        + (adminPort == null ? "" : ", admin on http://" + adminHost + ":" + adminPort);
  }

  /// Removes `file` if it is there and says the same: another node may have written it meanwhile.
  void remove(Path file) throws IOException {
    if (Files.isRegularFile(file) && Files.readString(file).equals(line())) {
      Files.delete(file);
    }
  }

  private String line() {
    return Json.of(this) + "\n";
  }

  /// Writes the line so that whoever reads the file sees all of it or none.
  void write(Path file) throws IOException {
    Path whole = file.toAbsolutePath();
    Path part = whole.resolveSibling(whole.getFileName() + ".part");
    Files.writeString(part, line());
    Files.move(part, whole, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }
}
