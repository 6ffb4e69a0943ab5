package io.penstock.node.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.config.NodeConfig;
import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class DiskFailureTest {
  @Test
  void failureOfAFolder_namesTheRuleThatItBroke() {
    Map<IOException, String> rules = Map.of(
        new AccessDeniedException("blocks"),
        "a folder that this user may read and write (was none, from default): blocks must be open to this user",
        new FileAlreadyExistsException("blocks"),
        "a folder (was none, from default): blocks must be a folder (is a file)",
        new FileSystemException("file/blocks", null, "Not a directory"),
        "in a folder (was none, from default): file/blocks must be usable (Not a dir",
        new FileSystemException("blocks", null, "Input/output error"),
        "on a disk that reads and writes (was none, from default): blocks must be usable");
    rules.forEach((cause,
        rule) -> assertThat(
            DiskFailure.of(NodeConfig.defaults(), new StorageFailedException("open journal blocks", cause)))
            .isInstanceOf(IOException.class).hasMessageStartingWith("ssd.dir must be " + rule));
  }

  @Test
  void failureOfSomethingElse_isPassedOn() {
    for (Throwable other : List.of(new IllegalStateException("x"), new OutOfMemoryError())) {
      assertThat(DiskFailure.of(NodeConfig.defaults(), other)).isSameAs(other);
    }
  }
}
