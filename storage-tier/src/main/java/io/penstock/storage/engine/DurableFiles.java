package io.penstock.storage.engine;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/// Small files that a journal writes whole, and names that it brings to the medium.
public final class DurableFiles {
  /// Follows the name of a file that is not written to its end. A crash may leave one.
  public static final String DRAFT = ".new";

  private DurableFiles() {}

  /// Makes `bytes` the content of `file`: a reader sees all of them or none.
  ///
  /// @param forced whether the bytes are on the medium when this returns; the name needs a [#force] of its folder
  public static void replace(Path file, ByteBuffer bytes, boolean forced) throws IOException {
    Path draft = file.resolveSibling(file.getFileName() + DRAFT);
    try {
      write(draft, bytes, forced, StandardOpenOption.TRUNCATE_EXISTING);
      Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
    } catch (Throwable e) {
      Files.deleteIfExists(draft);
      throw e;
    }
  }

  /// Writes `bytes` behind the end of `file`, which is made if it is not there, and forces them.
  public static void append(Path file, ByteBuffer bytes) throws IOException {
    write(file, bytes, true, StandardOpenOption.APPEND);
  }

  private static void write(Path file, ByteBuffer bytes, boolean forced, OpenOption option) throws IOException {
    try (FileChannel to = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE, option)) {
      while (bytes.hasRemaining()) {
        to.write(bytes);
      }
      if (forced) {
        to.force(true);
      }
    }
  }

  /// Brings a file, or the names in a folder, to the medium.
  public static void force(Path path) throws IOException {
    try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ)) {
      file.force(true);
    }
  }
}
