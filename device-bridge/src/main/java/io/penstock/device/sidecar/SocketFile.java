package io.penstock.device.sidecar;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import org.jspecify.annotations.Nullable;

/// The path of a socket, held against other nodes by a lock on a file beside it: a lock ends with its process, a socket's file does not.
final class SocketFile {
  private final Path path;
  private final FileChannel lock;

  private SocketFile(Path path, FileChannel lock) {
    this.path = path;
    this.lock = lock;
  }

  /// Takes the path, and removes what a dead node has left there.
  static SocketFile claim(Path wanted) throws IOException {
    Path path = wanted.toAbsolutePath().normalize();
    FileChannel lock = FileChannel.open(path.resolveSibling(path.getFileName() + ".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    try {
      if (tryLock(lock) == null) {
        throw new BindException(path + " must be nobody's (was another node's)");
      }
      if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
        if (!Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS).isOther()) {
          throw new BindException(path + " must be a socket, or not there (was something else)");
        }
        Files.delete(path);
      }
      return new SocketFile(path, lock);
    } catch (IOException e) {
      lock.close();
      throw e;
    }
  }

  private static @Nullable FileLock tryLock(FileChannel file) throws IOException {
    try {
      return file.tryLock();
    } catch (OverlappingFileLockException e) { // this process
      return null;
    }
  }

  /// Binds under another name, takes the rights of others away, and only then gives it its name.
  void bind(ServerSocketChannel channel) throws IOException {
    Path hidden = path.resolveSibling(path.getFileName() + ".new");
    Files.deleteIfExists(hidden);
    channel.bind(UnixDomainSocketAddress.of(hidden));
    Files.setPosixFilePermissions(hidden, PosixFilePermissions.fromString("rw-------"));
    Files.move(hidden, path, StandardCopyOption.ATOMIC_MOVE);
  }

  Path path() {
    return path;
  }

  /// Removes it; the lock's file stays, or two nodes could hold two of them.
  void close() {
    try (lock) {
      if (lock.isOpen()) {
        Files.deleteIfExists(path);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
