package io.penstock.wire.security;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.check.Checks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;

/// Content of some files, read again after they changed. Files that cannot be read leave the last good value in effect.
///
/// A change counts when two checks in a row see equal files: a writer of several files may be between two of them. Safe
/// from any thread; [#current()] never touches a disk.
public final class Reloaded<T> {
  private static final Logger LOG = LoggerFactory.getLogger(Reloaded.class);

  /// Reads the files.
  @FunctionalInterface
  public interface Reading<T> {
    /// @throws IllegalArgumentException if a file is not of its form
    T read() throws IOException;
  }

  /// @param key distinguishes two versions of a file with equal time and length
  private record Version(FileTime changed, long bytes, @Nullable Object key) {}

  private final String name;
  private final List<Path> files;
  private final Reading<T> reading;
  private volatile T current;
  private volatile @Nullable String problem;
  @GuardedBy("this") private List<Version> read;
  @GuardedBy("this") private List<Version> seen;
  /// Why the version that was read last is not in effect.
  @GuardedBy("this") private @Nullable String unread;

  private Reloaded(String name, List<Path> files, Reading<T> reading) throws IOException {
    this.name = requireNonNull(name, "name");
    this.files = List.copyOf(files);
    this.reading = reading;
    this.read = versions();
    this.seen = read;
    this.current = reading.read();
  }

  /// Reads `files` for the first time.
  ///
  /// @param name of the value in log lines
  /// @throws IllegalArgumentException if a file is not of its form
  public static <T> Reloaded<T> read(String name, List<Path> files, Reading<T> reading) throws IOException {
    return new Reloaded<>(name, files, reading);
  }

  /// The value of the files when they were last good.
  public T current() {
    return current;
  }

  /// Why the files as they are now are not in effect; empty if they are.
  public Optional<String> problem() {
    return Optional.ofNullable(problem);
  }

  /// Looks at the files every `interval` from now on.
  ///
  /// @param files runs the checks, which read the disk
  /// @return ends the checks
  public Disposable every(Duration interval, Scheduler files) {
    Checks.atLeastOneMilli("interval", interval);
    return files.schedulePeriodically(this::check, interval.toMillis(), interval.toMillis(), TimeUnit.MILLISECONDS);
  }

  /// Reads the files again if they changed and are still the same as at the last check.
  public synchronized void check() {
    try {
      List<Version> now = versions();
      boolean quiet = now.equals(seen);
      seen = now;
      if (now.equals(read)) {
        problem = unread;
      } else if (quiet) {
        read = now;
        reread();
      }
    } catch (IOException e) {
      keep(String.valueOf(e));
    }
  }

  @GuardedBy("this") private void reread() {
    try {
      current = reading.read();
      unread = null;
      problem = null;
      LOG.info("{} was read again", name);
    } catch (IOException | IllegalArgumentException e) {
      unread = String.valueOf(e.getMessage());
      keep(unread);
    }
  }

  private void keep(String why) {
    if (!why.equals(problem)) {
      problem = why;
      LOG.warn("{} keeps its earlier content: {}", name, why);
    }
  }

  private List<Version> versions() throws IOException {
    List<Version> versions = new ArrayList<>(files.size());
    for (Path file : files) {
      BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
      versions.add(new Version(attributes.lastModifiedTime(), attributes.size(), attributes.fileKey()));
    }
    return versions;
  }
}
