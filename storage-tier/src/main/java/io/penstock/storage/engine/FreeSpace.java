package io.penstock.storage.engine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// How many bytes a medium could still take. Injected, so that a full disk can be played.
@FunctionalInterface
public interface FreeSpace {
  long usableBytes() throws IOException;

  /// What the file system that holds `directory` says.
  static FreeSpace of(Path directory) {
    return () -> Files.getFileStore(directory).getUsableSpace();
  }

  /// A medium without end.
  static FreeSpace endless() {
    return () -> Long.MAX_VALUE;
  }
}
