package io.penstock.storage.engine.file;

import io.penstock.storage.engine.EngineFailure.DirectoryLockedException;
import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// A locked file, which has the id of the process that holds it alone. The file stays when the lock is freed.
///
/// The system frees the locks of a process on a file as soon as the process closes the file once, whichever channel had
/// locked it. So a file that this process has locked is not opened again.
final class LockFile implements AutoCloseable {
  private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

  private final Path path;
  private final FileChannel file;

  private LockFile(Path path, FileChannel file) {
    this.path = path;
    this.file = file;
  }

  /// Locks the file for this object alone.
  ///
  /// @throws DirectoryLockedException if another process or another object holds it
  static LockFile take(Path directory, String name) throws IOException {
    LockFile taken = lock(directory, name, false, StandardOpenOption.CREATE, StandardOpenOption.READ,
        StandardOpenOption.WRITE);
    try {
      FileBytes.write(taken.file, 0,
          StandardCharsets.US_ASCII.encode("%-19d\n".formatted(ProcessHandle.current().pid())));
      return taken;
    } catch (Throwable e) {
      taken.close();
      throw e;
    }
  }

  /// Locks a file that exists against those that want it alone.
  ///
  /// @throws DirectoryLockedException if another process holds it alone, or another object of this one holds it
  static LockFile share(Path directory, String name) throws IOException {
    return lock(directory, name, true, StandardOpenOption.READ);
  }

  private static LockFile lock(Path directory, String name, boolean shared, OpenOption... options)
      throws IOException {
    Path path = directory.toRealPath().resolve(name);
    if (!HELD.add(path)) {
      throw new DirectoryLockedException(directory.toString(), "" + ProcessHandle.current().pid());
    }
    FileChannel file = null;
    boolean isLocked = false;
    try {
      file = FileChannel.open(path, Set.of(options));
      isLocked = tryLock(file, shared);
      if (!isLocked) {
        throw new DirectoryLockedException(directory.toString(), holder(file));
      }
      return new LockFile(path, file);
    } finally {
      if (!isLocked) {
        close(file, path);
      }
    }
  }

  /// @return false if another process has it, or this one under another path
  private static boolean tryLock(FileChannel file, boolean shared) throws IOException {
    try {
      return file.tryLock(0, Long.MAX_VALUE, shared) != null;
    } catch (OverlappingFileLockException e) {
      return false;
    }
  }

  /// Closes the file, and frees its lock with it, before another object may open it.
  private static void close(@Nullable FileChannel file, Path path) throws IOException {
    try {
      if (file != null) {
        file.close();
      }
    } finally {
      HELD.remove(path);
    }
  }

  /// The id of the process that holds the lock, as it wrote it; or `unknown`.
  private static String holder(FileChannel file) throws IOException {
    ByteBuffer text = ByteBuffer.allocate((int) Math.min(32, file.size()));
    FileBytes.read(file, 0, text);
    String holder = StandardCharsets.US_ASCII.decode(text.flip()).toString().strip();
    return holder.isEmpty() ? "unknown" : holder;
  }

  /// Idempotent.
  @Override
  public void close() {
    try {
      if (file.isOpen()) {
        close(file, path);
      }
    } catch (IOException e) {
      throw new StorageFailedException("close " + path, e);
    }
  }
}
