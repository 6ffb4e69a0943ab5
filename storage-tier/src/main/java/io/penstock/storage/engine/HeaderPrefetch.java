package io.penstock.storage.engine;

import io.penstock.system.NativeFile;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// Prefetches record headers; a disk serves dozens of small reads in the time of one.
///
/// Where they are is a guess: most records of a segment are as long as the one before. One thread.
final class HeaderPrefetch implements AutoCloseable {
  private static final int RECORDS = 64;
  /// Records that lie closer are read ahead by the system itself.
  private static final int LEAST_STRIDE = 32 << 10;
  /// What is read of a record: the mark of the one before, and most heads.
  private static final int BEFORE_BYTES = 32;
  private static final int HEAD_BYTES = 2 << 10;

  private final @Nullable NativeFile file;
  private final long end;
  private long last;
  private long stride;
  /// As far as it was fetched.
  private long fetched;

  /// @param end of the segment in `path`
  HeaderPrefetch(Path path, long end) {
    this.file = NativePages.openToAdvise(path);
    this.end = end;
  }

  /// The record at `offset` is about to be visited.
  void visit(long offset) {
    long distance = offset - last;
    last = offset;
    if (distance == stride && distance >= LEAST_STRIDE && file != null) {
      fetch(file, offset);
    }
    stride = distance;
  }

  private void fetch(NativeFile from, long offset) {
    long to = Math.min(end, offset + RECORDS * stride + 1);
    for (long at = offset + Math.max(1, (fetched - offset) / stride + 1) * stride; at < to; at += stride) {
      NativePages.advise(from, at - BEFORE_BYTES, BEFORE_BYTES + HEAD_BYTES, NativeFile.Advice.WILL_NEED);
      fetched = at;
    }
  }

  @Override
  public void close() {
    if (file != null) {
      file.close();
    }
  }
}
