package io.penstock.storage.engine.file;

import io.penstock.storage.engine.EngineFailure.DirectoryLockedException;
import io.penstock.storage.engine.EngineFailure.EngineClosedException;
import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// The lock on a folder whose subfolders have journals. It is taken when the first of them is to be opened, and held
/// until it is closed. The system frees it when the process ends, however that ends. Safe from any thread.
public final class FolderLock implements AutoCloseable {
  /// Not the name of the lock of a journal, which may lie in the folder itself.
  private static final String NAME = "node.lock";

  private final Path folder;
  private final ReentrantLock turn = new ReentrantLock();
  private volatile @Nullable LockFile held;
  private volatile boolean closed;

  public FolderLock(Path folder) {
    this.folder = folder;
  }

  /// Takes the lock, unless this object has it, and makes the folder if it is missing. Waits for the disk.
  ///
  /// @throws DirectoryLockedException if another process or another object has it
  /// @throws StorageFailedException if the disk fails
  /// @throws EngineClosedException after [#close()]
  public void take() {
    turn.lock();
    try {
      if (held == null && !closed) {
        Files.createDirectories(folder);
        held = LockFile.take(folder, NAME);
      }
    } catch (IOException e) {
      throw new StorageFailedException("lock folder " + folder, e);
    } finally {
      turn.unlock();
    }
    if (closed) {
      release();
      throw new EngineClosedException("folder " + folder);
    }
  }

  /// Frees the lock. Does not wait for a disk that [#take()] waits for: that call frees it then.
  @Override
  public void close() {
    closed = true;
    release();
  }

  private void release() {
    if (!turn.tryLock()) {
      return; // the one that takes it looks whether it is closed when it is done
    }
    try {
      LockFile lock = held;
      held = null;
      if (lock != null) {
        lock.close();
      }
    } finally {
      turn.unlock();
    }
  }
}
