package io.penstock.storage.engine.file;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Files of deleted segments that are kept and reused. Their space is reserved and their pages are in memory, so an
/// append is a copy. A new file takes pages from the system, and a deleted one gives them back.
///
/// No walk looks at the name of a spare file. The file gets the name of a segment only after the new head replaced the
/// old one, so a crash in between leaves no segment with the records of another.
final class SpareSegments {
  private static final String PREFIX = "spare-";

  private final Path directory;
  private final int most;
  private final long leastBytes;
  /// Spare files without a reader.
  @GuardedBy("this") private final ArrayDeque<Path> free = new ArrayDeque<>();
  @GuardedBy("this") private int kept;
  @GuardedBy("this") private long names;
  @GuardedBy("this") private boolean closed;

  /// @param most files kept
  /// @param leastBytes shorter files are deleted: little of their space is reserved
  SpareSegments(Path directory, int most, long leastBytes) {
    this.directory = directory;
    this.most = most;
    this.leastBytes = leastBytes;
  }

  /// Deletes the spare files of an earlier run.
  void clear() throws IOException {
    List<Path> left;
    try (Stream<Path> files = Files.list(directory)) {
      left = files.filter(file -> file.getFileName().toString().startsWith(PREFIX)).toList();
    }
    for (Path file : left) {
      Files.deleteIfExists(file);
    }
  }

  /// Keeps `file` under another name if there is room for it, else deletes it.
  ///
  /// @return the new name, for [#free] when the last reader is done; null if the file was deleted
  @Nullable Path keep(Path file) throws IOException {
    Path name;
    boolean isShort = most > 0 && Files.size(file) < leastBytes;
    synchronized (this) {
      if (closed || isShort || kept == most) {
        Files.deleteIfExists(file);
        return null;
      }
      kept++;
      name = directory.resolve(PREFIX + names++);
    }
    try {
      return Files.move(file, name, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      synchronized (this) {
        kept--;
      }
      throw e;
    }
  }

  /// The last reader of `spare` is done: it may be reused.
  void free(Path spare) {
    synchronized (this) {
      if (!closed) {
        free.add(spare);
        return;
      }
    }
    try {
      Files.deleteIfExists(spare);
    } catch (IOException e) {
      // the next opening deletes it
    }
  }

  synchronized boolean isEmpty() {
    return free.isEmpty();
  }

  /// Makes a spare file the file of a new segment, which begins with `head`; false if there is none.
  boolean begin(Path segment, ByteBuffer head) throws IOException {
    Path spare;
    synchronized (this) {
      spare = free.poll();
      kept -= spare == null ? 0 : 1;
    }
    if (spare == null) {
      return false;
    }
    try (FileChannel file = FileChannel.open(spare, StandardOpenOption.WRITE)) {
      FileBytes.write(file, 0, head);
    }
    Files.move(spare, segment, StandardCopyOption.ATOMIC_MOVE);
    return true;
  }

  /// Deletes the spare files, those with a reader when the reader is done.
  void close() throws IOException {
    List<Path> left;
    synchronized (this) {
      closed = true;
      left = List.copyOf(free);
      free.clear();
    }
    for (Path file : left) {
      Files.deleteIfExists(file);
    }
  }
}
