package io.penstock.node.cli;

import io.penstock.node.text.Reason;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// A folder that is gone when the work in it is done, or when the process ends by a signal: then its children end
/// before. Any thread.
public final class TemporaryFolder implements AutoCloseable {
  private static final int TRIES = 5;

  private final Path path;
  private final Thread cleaner;

  private TemporaryFolder(Path path) throws IOException {
    this.path = path;
    this.cleaner = Thread.ofPlatform().name("penstock-folder-cleaner").unstarted(this::interrupted);
    try {
      Runtime.getRuntime().addShutdownHook(cleaner);
    } catch (IllegalStateException e) { // no hook would delete it later
      Folders.delete(path);
      throw new IOException("a temporary folder must be made before the process ends (was ending)", e);
    }
  }

  /// A new temporary folder in the system's place for them.
  ///
  /// @throws IOException if it cannot be made, or the process is ending
  public static TemporaryFolder create(String prefix) throws IOException {
    return in(null, prefix);
  }

  /// A new one in `parent`, which is made if it is not there; where the system has such folders, if that is null.
  public static TemporaryFolder in(@Nullable Path parent, String prefix) throws IOException {
    return new TemporaryFolder(parent == null
        ? Files.createTempDirectory(prefix)
        : Files.createTempDirectory(Files.createDirectories(parent), prefix));
  }

  public Path path() {
    return path;
  }

  /// Leaves it where it is, from now on.
  public void keep() {
    try {
      Runtime.getRuntime().removeShutdownHook(cleaner);
    } catch (IllegalStateException e) { // the process is ending, because of a signal: the cleaner is at work
      return;
    }
  }

  /// Deletes it. Idempotent.
  ///
  /// @throws UncheckedIOException if something of it stays
  @Override
  public void close() {
    try {
      Folders.delete(path);
    } catch (IOException e) {
      if (Files.exists(path)) { // else the cleaner was faster
        throw new UncheckedIOException(path + " must be deleted by hand: " + Reason.of(e), e);
      }
    }
    keep(); // not before: a signal may come meanwhile
  }

  /// Threads of this process may write for as long as it is there, so one look may not be enough.
  private void interrupted() {
    Children.end();
    for (int tries = 1; Files.exists(path); tries++) {
      try {
        Folders.delete(path);
      } catch (IOException e) {
        if (tries == TRIES) {
          System.err.println(path + " must be deleted by hand: " + Reason.of(e));
          return;
        }
      }
    }
  }
}
