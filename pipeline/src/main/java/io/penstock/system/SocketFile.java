package io.penstock.system;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;

/// The path of a Unix domain socket, protected against other nodes by a lock on a file next to it: a lock ends with its
/// process, a socket's file does not. A listener binds at [#hidden], then [#show] gives the socket its path.
///
/// The lock belongs to one opening of the file (`flock`): a lock of the process (`fcntl`, as the JDK takes it) would
/// end as soon as any code of the process closed the file. The owner of the lock may remove the file; a node that locks
/// a removed file tries again.
public final class SocketFile {
  /// Maximum length of a socket's path, in bytes.
  private static final int LONGEST = 107;
  private static final String HIDDEN = ".new";

  private final Path path;
  private final Path lockPath;
  private final NativeFile lock;
  @GuardedBy("this") private boolean closed;

  private SocketFile(Path path, Path lockPath, NativeFile lock) {
    this.path = path;
    this.lockPath = lockPath;
    this.lock = lock;
  }

  /// Takes the path, and removes the file of a dead node.
  ///
  /// @throws IOException if another node listens there, or something else is there, or the system refuses
  public static SocketFile claim(Path wanted) throws IOException {
    Path path = wanted.toAbsolutePath().normalize();
    int bytes = (path + HIDDEN).getBytes(StandardCharsets.UTF_8).length;
    if (bytes > LONGEST) {
      throw new BindException("path of a socket must have <= " + (LONGEST - HIDDEN.length()) + " bytes (was "
          + (bytes - HIDDEN.length()) + ": " + path + ")");
    }
    Path lockPath = path.resolveSibling(path.getFileName() + ".lock");
    SocketFile claimed = new SocketFile(path, lockPath, locked(path, lockPath));
    try {
      if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
        if (!Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS).isOther()) {
          throw new BindException(path + " must be a socket, or not there (was something else)");
        }
        Files.delete(path);
      }
      return claimed;
    } catch (IOException e) {
      claimed.unlock();
      throw e;
    }
  }

  private static NativeFile locked(Path path, Path lockPath) throws IOException {
    while (true) {
      NativeFile file = NativeFile.openOrCreate(lockPath);
      try {
        if (!file.tryLock()) {
          throw new BindException(path + " must be a path that no other node uses (was in use)");
        }
        if (isAt(lockPath, file)) {
          return file;
        }
        file.close();
      } catch (IOException e) {
        file.close();
        throw e;
      }
    }
  }

  /// Returns false if the earlier owner of the lock has removed the file since it was opened.
  private static boolean isAt(Path path, NativeFile file) throws IOException {
    try {
      return Files.isSameFile(path, file.shown());
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  /// Path to bind: a name that no client knows, and that is free.
  public Path hidden() throws IOException {
    Path hidden = path.resolveSibling(path.getFileName() + HIDDEN);
    Files.deleteIfExists(hidden);
    return hidden;
  }

  /// Takes the rights of other users away from the socket at [#hidden], and only then gives it its name.
  public void show() throws IOException {
    Path hidden = path.resolveSibling(path.getFileName() + HIDDEN);
    Files.setPosixFilePermissions(hidden, PosixFilePermissions.fromString("rw-------"));
    Files.move(hidden, path, StandardCopyOption.ATOMIC_MOVE);
  }

  /// Absolute.
  public Path path() {
    return path;
  }

  /// Removes it. Idempotent.
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    try {
      Files.deleteIfExists(path);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      unlock();
    }
  }

  private void unlock() {
    try {
      Files.deleteIfExists(lockPath);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      lock.close();
    }
  }
}
