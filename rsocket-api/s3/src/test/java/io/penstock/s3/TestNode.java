package io.penstock.s3;

import static java.util.Objects.requireNonNull;

import io.penstock.node.config.NodeConfig;
import io.penstock.node.door.NodeDoors;
import io.penstock.node.serve.Node;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Map;

/// A node with the door of S3 and one access key.
public final class TestNode implements AutoCloseable {
  public static final String KEY = "AKIAIOSFODNN7EXAMPLE";
  public static final String SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
  public static final String USER = "engine";
  private static final Duration SOON = Duration.ofSeconds(60);

  private final Node node;

  private TestNode(Node node) {
    this.node = node;
  }

  /// @param folder for its files
  /// @param more lines of its settings
  public static TestNode start(Path folder, String more) throws IOException {
    return start(folder, USER, more);
  }

  /// @param user whose access key it is
  static TestNode start(Path folder, String user, String more) throws IOException {
    Path keys = folder.resolve("keys");
    Files.writeString(keys,
        "# of an engine\n" + KEY + " " + SECRET + " " + user + "\nTEMP temporary-secret temp token-1\n");
    Files.setPosixFilePermissions(keys, PosixFilePermissions.fromString("rw-------"));
    String yaml = """
        listen.port: 0
        admin.port: 0
        s3: 127.0.0.1:0
        s3.keys.file: %s
        """.formatted(keys) + (more.contains("dram:") ? "" : "dram: 64MiB\n") + more;
    return startAsIs(folder, yaml);
  }

  /// @param yaml all settings
  static TestNode startAsIs(Path folder, String yaml) throws IOException {
    NodeConfig config = NodeConfig.resolve(Files.writeString(folder.resolve("node.yaml"), yaml), Map.of(), Map.of());
    return new TestNode(requireNonNull(Node.start(config).block(SOON)));
  }

  public NodeDoors.Facts door() {
    return node.doors().getFirst();
  }

  public int port() {
    String address = door().address();
    return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
  }

  public Node node() {
    return node;
  }

  @Override
  public void close() {
    node.close().block(SOON);
  }
}
