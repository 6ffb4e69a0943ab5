package io.penstock.storage.engine.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.storage.engine.EngineFailure.DirectoryLockedException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class LockFileTest {
  private static final String NAME = "lock";

  @TempDir
  private Path folder;

  /// The locks of this process that the system knows, by the number of their file.
  private List<String> locksOfTheSystem() throws IOException {
    String inode = ":" + Files.getAttribute(folder.resolve(NAME), "unix:ino") + " ";
    try (Stream<String> lines = Files.lines(Path.of("/proc/locks"), StandardCharsets.US_ASCII)) {
      return lines.filter(line -> line.contains(inode)).toList();
    }
  }

  @Test
  void theSystem_keepsALock_whenThisProcessIsRefusedAnother() throws IOException {
    try (LockFile _ = LockFile.take(folder, NAME)) {
      assertThat(locksOfTheSystem()).hasSize(1);
      String own = "" + ProcessHandle.current().pid();
      assertThatThrownBy(() -> LockFile.take(folder, NAME)).isInstanceOf(DirectoryLockedException.class)
          .hasMessageContaining(own);
      assertThatThrownBy(() -> LockFile.share(folder.resolve("."), NAME)).isInstanceOf(DirectoryLockedException.class)
          .hasMessageContaining(own);
      assertThat(locksOfTheSystem()).as("after both").hasSize(1);
    }
    assertThat(locksOfTheSystem()).isEmpty();
    LockFile.share(folder, NAME).close();
    LockFile.take(folder, NAME).close();
  }

  @Test
  void aFile_isLockedUnderEachOfItsNames() throws IOException {
    try (LockFile _ = LockFile.take(folder, NAME)) {
      Files.createLink(folder.resolve("other"), folder.resolve(NAME));
      assertThatThrownBy(() -> LockFile.take(folder, "other")).isInstanceOf(DirectoryLockedException.class);
    }
    LockFile.take(folder, "other").close();
  }

  @Test
  void aFileThatIsNotThere_isNotShared_andCanBeTakenLater() throws IOException {
    assertThatThrownBy(() -> LockFile.share(folder, NAME)).isInstanceOf(NoSuchFileException.class);
    LockFile.take(folder, NAME).close();
  }
}
