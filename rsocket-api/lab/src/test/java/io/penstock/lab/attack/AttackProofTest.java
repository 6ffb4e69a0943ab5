package io.penstock.lab.attack;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.serve.NodeProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Attacks on a node that has every transport and is a registry: no bound breaks, and its log stays short. The node and
/// the attackers are processes of their own, with JVMs as the launcher makes them: what a JVM of the tests costs is not
/// the node's.
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
    assertHolds(MINUTES, "--seed", "16");
  }

  /// Strangers at the good client's own address whose shares alone keep them from it, and mixes of all by seed.
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void seconds_ofStrangersAtTheGoodClientsAddress_stopItNot(int seed) throws Exception {
    assertHolds(0.25, "--seed", "" + seed, "--kinds", "crowded-gets,silent-puts,stuck-puts,trickling-puts,mix");
  }

  private void assertHolds(double minutes, String... flags) throws Exception {
    try (NodeProcess node = NodeProcess.startAsLaunched(folder, HEAP, "--dram", "256MiB", "--registry",
        "--listen-socket", folder.resolve("node").toString(), "--listen-ws-port", "0")) {
      Path said = folder.resolve("attack");
      List<String> arguments = new ArrayList<>(List.of("attack", "127.0.0.1:" + node.port(), "--admin",
          "127.0.0.1:" + node.adminPort(), "--minutes", "" + minutes));
      arguments.addAll(List.of(flags));
      Process attack = new ProcessBuilder(NodeProcess.launched("1g", "io.penstock.lab.LabMain", arguments))
          .redirectErrorStream(true).redirectOutput(said.toFile()).start();
      try {
        assertThat(attack.waitFor()).as(() -> read(said)).isZero();
      } finally {
        attack.destroyForcibly();
      }
      assertThat(node.said().lines()).as("lines of the log")
          .hasSizeLessThanOrEqualTo((int) Math.ceil(minutes) * MOST_LOG_LINES_A_MINUTE);
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
