package io.penstock.storage.engine.file;

import io.penstock.storage.engine.EngineFailure.DirectoryLockedException;
import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/// A locked file, which has the id of the process that holds the lock. The file stays when the lock is freed.
final class LockFile implements AutoCloseable {
  private final Path directory;
  private final FileChannel file;
  @SuppressWarnings("UnusedVariable") // the lock lives as long as this object
  private final FileLock lock;

  private LockFile(Path directory, FileChannel file, FileLock lock) {
    this.directory = directory;
    this.file = file;
    this.lock = lock;
  }

  /// @throws DirectoryLockedException if another process or another object holds it
  static LockFile take(Path directory, String name) throws IOException {
    FileChannel file = FileChannel.open(directory.resolve(name), StandardOpenOption.CREATE, StandardOpenOption.READ,
        StandardOpenOption.WRITE);
    try {
      FileLock lock = tryLock(file, false);
      if (lock == null) {
        throw new DirectoryLockedException(directory.toString(), holder(file));
      }
      FileBytes.write(file, 0, StandardCharsets.US_ASCII.encode("%-19d\n".formatted(ProcessHandle.current().pid())));
      return new LockFile(directory, file, lock);
    } catch (Throwable e) {
      file.close(); // and the lock with it
      throw e;
    }
  }

  /// @return the lock of `file`; null if another holds it
  ///
  /// @param shared whether others may hold a shared lock, too
  static @Nullable FileLock tryLock(FileChannel file, boolean shared) throws IOException {
    try {
      return file.tryLock(0, Long.MAX_VALUE, shared);
    } catch (OverlappingFileLockException e) { // this process holds it
      return null;
    }
  }

  /// The id of the process that holds the lock, as it wrote it; or `unknown`.
  static String holder(FileChannel file) throws IOException {
    ByteBuffer text = ByteBuffer.allocate((int) Math.min(32, file.size()));
    FileBytes.read(file, 0, text);
    String holder = StandardCharsets.US_ASCII.decode(text.flip()).toString().strip();
    return holder.isEmpty() ? "unknown" : holder;
  }

  @Override
  public void close() {
    try {
      file.close(); // and the lock with it
    } catch (IOException e) {
      throw new StorageFailedException("close journal " + directory, e);
    }
  }
}
