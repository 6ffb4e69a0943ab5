package io.penstock.storage.engine.file;

import io.penstock.storage.engine.DurableFiles;
import io.penstock.storage.engine.EngineFailure.DirectoryLockedException;
import io.penstock.storage.engine.EngineFailure.JournalFormatException;
import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The directory of a journal. One process holds its lock; the file `format` names the engine and the version.
final class EngineDirectory implements AutoCloseable {
  /// Version of everything in the directory.
  static final int VERSION = 2;

  static final String LOCK = "lock";
  private static final String FORMAT = "format";
  private static final String PROBE = "probe";

  /// Bytes that a probe writes.
  static final int PROBE_BYTES = 4096;

  private final Path path;
  private final LockFile lock;
  /// Key that distinguishes this directory from another of its name; null if the system has no such key.
  private @Nullable Object identity;

  private EngineDirectory(Path path, LockFile lock) {
    this.path = path;
    this.lock = lock;
  }

  /// Locks the directory, and makes it if it is missing.
  ///
  /// @throws DirectoryLockedException if another journal has it
  /// @throws JournalFormatException if something else wrote it
  static EngineDirectory open(Path path, String engine) {
    try {
      Files.createDirectories(path);
      EngineDirectory directory = new EngineDirectory(path, LockFile.take(path, LOCK));
      try {
        directory.identity = identity(path);
        directory.requireFormat("penstock journal, format " + VERSION + ", engine " + engine + "\n");
        return directory;
      } catch (Throwable e) {
        directory.close();
        throw e;
      }
    } catch (IOException e) {
      throw new StorageFailedException("open journal " + path, e);
    }
  }

  private void requireFormat(String format) throws IOException {
    Path file = path.resolve(FORMAT);
    if (!Files.exists(file)) {
      DurableFiles.replace(file, StandardCharsets.US_ASCII.encode(format), true);
      DurableFiles.force(path);
      Path parent = path.toAbsolutePath().getParent();
      if (parent != null) {
        DurableFiles.force(parent); // where the directory itself may be new
      }
      return;
    }
    String found = format(path);
    if (!found.equals(format)) {
      throw new JournalFormatException("journal " + path, "`" + format.strip() + "`",
          "`" + found.substring(0, Math.min(found.length(), 80)).strip() + "`");
    }
  }

  /// The content of the file `format` in `path`.
  static String format(Path path) throws IOException {
    return new String(Files.readAllBytes(path.resolve(FORMAT)), StandardCharsets.ISO_8859_1);
  }

  static boolean isOne(Path path) {
    return Files.isRegularFile(path.resolve(FORMAT)) || Files.isRegularFile(path.resolve(LOCK));
  }

  Path path() {
    return path;
  }

  private static @Nullable Object identity(Path path) throws IOException {
    return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
  }

  /// Writes, forces, reads and deletes a small file.
  ///
  /// @throws IOException if that fails, or another directory has taken the place of the opened one
  void probe() throws IOException {
    Object now = identity(path);
    if (!Objects.equals(now, identity)) {
      throw new IOException("directory must be the one that was opened, " + identity + " (was another, " + now + ")");
    }
    Path file = path.resolve(PROBE);
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer bytes = ByteBuffer.allocateDirect(PROBE_BYTES);
      FileBytes.write(channel, 0, bytes);
      channel.force(true);
      FileBytes.read(channel, 0, bytes.clear());
    } finally {
      Files.deleteIfExists(file);
    }
  }

  /// Deletes files of an earlier run.
  void clear() throws IOException {
    Files.deleteIfExists(path.resolve(PROBE));
  }

  @Override
  public void close() {
    lock.close();
  }
}
