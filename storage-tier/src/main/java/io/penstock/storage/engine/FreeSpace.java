package io.penstock.storage.engine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// How many bytes a medium could still take. Injected, so that a full disk can be played.
@FunctionalInterface
public interface FreeSpace {
  long usableBytes() throws IOException;

  /// How many there are, `Long.MAX_VALUE` if that is unknown.
  default long totalBytes() throws IOException {
    return Long.MAX_VALUE;
  }

  /// What the file system that holds `directory` says.
  static FreeSpace of(Path directory) {
    return new FreeSpace() {
      @Override
      public long usableBytes() throws IOException {
        return Files.getFileStore(directory).getUsableSpace();
      }

      @Override
      public long totalBytes() throws IOException {
        return Files.getFileStore(directory).getTotalSpace();
      }
    };
  }

  /// A medium without end.
  static FreeSpace endless() {
    return () -> Long.MAX_VALUE;
  }
}
