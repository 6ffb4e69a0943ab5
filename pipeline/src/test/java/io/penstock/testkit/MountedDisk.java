package io.penstock.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// A small file system of a test's own, for those who may mount one.
public final class MountedDisk implements AutoCloseable {
  private final Path path;
  private boolean frozen;

  private MountedDisk(Path path) {
    this.path = path;
  }

  /// In memory; null where nothing can be mounted.
  public static @Nullable MountedDisk inMemory(Path at, int mebibytes) throws IOException {
    Files.createDirectories(at);
    return isDone("mount", "-t", "tmpfs", "-o", "size=" + mebibytes + "m", "penstock-test", at.toString())
        ? new MountedDisk(at)
        : null;
  }

  /// In a file, whose writes can be held; null where nothing can be mounted.
  public static @Nullable MountedDisk inAFile(Path at, Path image, int mebibytes) throws IOException {
    Files.createDirectories(at);
    boolean mounted =
        isDone("truncate", "-s", mebibytes + "M", image.toString()) && isDone("mkfs.ext4", "-q", "-F", image.toString())
            && isDone("mount", "-o", "loop", image.toString(), at.toString());
    return mounted ? new MountedDisk(at) : null;
  }

  public Path path() {
    return path;
  }

  /// Writers wait from now on.
  public void freeze() {
    frozen = isDone("fsfreeze", "-f", path.toString());
    if (!frozen) {
      throw new IllegalStateException(path + " must be frozen (was not)");
    }
  }

  public void thaw() {
    if (frozen) {
      frozen = !isDone("fsfreeze", "-u", path.toString());
    }
  }

  @Override
  public void close() {
    thaw();
    isDone("umount", "-l", path.toString());
  }

  private static boolean isDone(String... command) {
    try {
      Process process = new ProcessBuilder(List.of(command)).redirectErrorStream(true).start();
      process.getInputStream().readAllBytes();
      return process.waitFor(30, TimeUnit.SECONDS) && process.exitValue() == 0;
    } catch (IOException e) {
      return false; // no such command here
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
