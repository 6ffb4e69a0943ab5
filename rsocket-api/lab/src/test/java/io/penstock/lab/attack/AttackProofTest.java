package io.penstock.lab.attack;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.serve.NodeProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Ten minutes of attacks on a node: no bound breaks, and its log stays short. The node and the attackers are processes
/// of their own, with JVMs as the launcher makes them: what a JVM of the tests costs is not the node's.
@Tag("proof")
@Timeout(1800)
final class AttackProofTest {
  private static final int MINUTES = 10;
  private static final String HEAP = "384m";
  private static final int MOST_LOG_LINES_A_MINUTE = 100;

  @TempDir
  private Path folder;

  @Test
  void tenMinutesOfAttacks_stopNoOtherClient() throws Exception {
    try (NodeProcess node = NodeProcess.startAsLaunched(folder, HEAP, "--dram", "256MiB")) {
      Path said = folder.resolve("attack");
      Process attack = new ProcessBuilder(NodeProcess.launched("1g", "io.penstock.lab.LabMain",
          List.of("attack", "127.0.0.1:" + node.port(), "--admin", "127.0.0.1:" + node.adminPort(), "--minutes",
              "" + MINUTES, "--seed", "16")))
          .redirectErrorStream(true).redirectOutput(said.toFile()).start();
      try {
        assertThat(attack.waitFor()).as(() -> read(said)).isZero();
      } finally {
        attack.destroyForcibly();
      }
      assertThat(node.said().lines()).as("lines of the log")
          .hasSizeLessThanOrEqualTo(MINUTES * MOST_LOG_LINES_A_MINUTE);
    }
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
