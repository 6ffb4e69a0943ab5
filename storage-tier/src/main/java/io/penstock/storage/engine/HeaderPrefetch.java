package io.penstock.storage.engine;

import io.penstock.system.NativeFile;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// Prefetches record headers; a disk serves dozens of small reads in the time of one.
///
/// Most records of a segment have one length, so the next ones lie at the same distance. One thread.
final class HeaderPrefetch implements AutoCloseable {
  private static final int RECORDS = 64;
  /// The system itself reads ahead records that lie closer.
  private static final int LEAST_STRIDE = 32 << 10;
  /// Bytes to fetch of each record: the mark of the one before it, and most heads.
  private static final int BEFORE_BYTES = 32;
  private static final int HEAD_BYTES = 2 << 10;

  private final @Nullable NativeFile file;
  private final long end;
  private long last;
  private long stride;
  /// The last offset that was fetched.
  private long fetched;

  /// @param end of the file
  HeaderPrefetch(Path path, long end) {
    this.file = NativePages.openToAdvise(path);
    this.end = end;
  }

  /// The walk is about to visit the record at `offset`.
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
