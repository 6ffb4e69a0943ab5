package io.penstock.storage.engine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// The free space of a medium. A test can inject a full disk.
@FunctionalInterface
public interface FreeSpace {
  long usableBytes() throws IOException;

  /// All bytes of the medium, `Long.MAX_VALUE` if unknown.
  default long totalBytes() throws IOException {
    return Long.MAX_VALUE;
  }

  /// The free space of the file system that holds `directory`.
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

  /// An endless medium.
  static FreeSpace endless() {
    return () -> Long.MAX_VALUE;
  }
}
