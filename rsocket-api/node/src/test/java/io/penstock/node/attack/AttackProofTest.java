package io.penstock.node.attack;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.CommandLineRun;
import io.penstock.node.serve.NodeProcess;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Ten minutes of attacks on a node in a process of its own: no bound breaks, and its log stays short.
@Tag("proof")
@Timeout(1800)
final class AttackProofTest {
  private static final int MINUTES = 10;
  private static final int MOST_LOG_LINES_A_MINUTE = 100;

  @TempDir
  private Path folder;

  @Test
  void tenMinutesOfAttacks_stopNoOtherClient() throws Exception {
    try (NodeProcess node = NodeProcess.start(folder, "--dram", "256MiB")) {
      CommandLineRun run = CommandLineRun.of("attack", "127.0.0.1:" + node.port(), "--admin",
          "127.0.0.1:" + node.adminPort(), "--minutes", "" + MINUTES, "--seed", "16");

      assertThat(run.exitCode()).as(run.out() + run.err()).isZero();
      assertThat(node.said().lines()).as("lines of the log")
          .hasSizeLessThanOrEqualTo(MINUTES * MOST_LOG_LINES_A_MINUTE);
    }
  }
}
