package io.penstock.storage.engine;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/// How much of what was appended stays in the system's page cache once it was forced: the newest bytes, so many at
/// most.
///
/// Without a bound the cache takes all the memory there is. New pages for it may be slow to get, and on a virtual
/// machine whose host takes free memory back they cost more than the medium; those that are let go are had again at
/// once. Safe from any thread.
final class CachedFiles {
  private record Part(SegmentFile file, long from, long to) {}

  private final long mostBytes;
  /// Oldest first.
  @GuardedBy("this") private final ArrayDeque<Part> parts = new ArrayDeque<>();
  @GuardedBy("this") private long bytes;

  CachedFiles(long mostBytes) {
    this.mostBytes = mostBytes;
  }

  /// All of `file` before `end` is on the medium.
  synchronized void forced(SegmentFile file, long end) {
    long from = file.forcedTo();
    if (mostBytes != EngineOptions.UNLIMITED && end > from) {
      file.forcedTo(end);
      parts.add(new Part(file, from, end));
      bytes += end - from;
    }
  }

  /// Lets go of what is too much, the oldest first; where the system does not want to, it stays.
  void trim() {
    for (Part oldest = surplus(); oldest != null; oldest = surplus()) {
      letGo(oldest);
    }
  }

  private synchronized @Nullable Part surplus() {
    if (bytes <= mostBytes) {
      return null;
    }
    Part oldest = parts.remove();
    bytes -= oldest.to() - oldest.from();
    return oldest;
  }

  private static void letGo(Part part) {
    if (part.file().isDeleted() || !part.file().retain()) {
      return; // its pages went with it
    }
    try {
      part.file().letGo(part.from(), part.to());
    } catch (IOException e) {
      // the pages stay until the system needs them, as they would without a bound
    } finally {
      part.file().release();
    }
  }
}
