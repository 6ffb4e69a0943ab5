package io.penstock.node.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What a signal does to one is shown by `ReplayInterruptTest`.
final class TemporaryFolderTest {
  @TempDir
  private Path parent;

  @Test
  void closed_isGoneWithAllThatIsInIt_andMayBeClosedAgain() throws IOException {
    TemporaryFolder folder = TemporaryFolder.in(parent.resolve("new"), "work-");
    assertThat(folder.path()).isEmptyDirectory().hasParent(parent.resolve("new"));
    Files.writeString(Files.createDirectories(folder.path().resolve("a/b")).resolve("c"), "d");

    folder.close();
    folder.close();

    assertThat(folder.path()).doesNotExist();
    assertThat(parent.resolve("new")).as("was made for it, and stays").isEmptyDirectory();
  }
}
