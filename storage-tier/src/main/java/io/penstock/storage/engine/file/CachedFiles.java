package io.penstock.storage.engine.file;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.storage.engine.EngineOptions;
import java.io.IOException;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/// Bounds the appended bytes that stay in the system's page cache after they were forced: the newest stay.
///
/// Without a bound the cache takes all free memory. New pages may be slow to get; on a virtual machine whose host takes
/// free memory back they cost more than the medium. Pages that were let go are available at once. Safe from any thread.
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

  /// Releases bytes beyond the bound, the oldest first. The system may keep them.
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
      return; // its pages are gone
    }
    try {
      part.file().letGo(part.from(), part.to());
    } catch (IOException e) {
      // the pages stay until the system needs them
    } finally {
      part.file().release();
    }
  }
}
