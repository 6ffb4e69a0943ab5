package io.penstock.node.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.CommandLineRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The ready file of an earlier node, which was killed.
final class ReadyFileTest {
  @TempDir
  Path folder;

  private Path stale() throws IOException {
    return Files.writeString(folder.resolve("ready"), "{}\n");
  }

  @Test
  void aStartThatFails_leavesNoneOfAnEarlierNode() throws IOException {
    Path stale = stale();
    assertThat(CommandLineRun.of("serve", "--ready-file", stale.toString(), "--dram", "nonsense").exitCode())
        .isEqualTo(2);
    assertThat(stale).doesNotExist();
  }

  @Test
  void aLookAtTheSettings_isNoStart() throws IOException {
    Path stale = stale();
    assertThat(CommandLineRun.of("serve", "--ready-file", stale.toString(), "--print-config").exitCode()).isZero();
    assertThat(stale).exists();
  }
}
