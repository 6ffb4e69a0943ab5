package io.penstock.storage.engine;

import java.nio.file.Path;

/// Prefetches record headers; a disk serves dozens of small reads in the time of one.
///
/// Where they are is a guess: most records of a segment are as long as the one before. One thread.
final class HeaderPrefetch implements AutoCloseable {
  private static final int RECORDS = 64;
  /// Records that lie closer are read ahead by the system itself.
  private static final int LEAST_STRIDE = 32 << 10;
  /// What is read of a record: the mark of the one before, the frame, and most heads.
  private static final int BEFORE_BYTES = 32;
  private static final int HEAD_BYTES = 2 << 10;

  private final int descriptor;
  private final long end;
  private long last;
  private long stride;
  /// As far as it was fetched.
  private long fetched;

  /// @param end of the segment in `file`
  HeaderPrefetch(Path file, long end) {
    this.descriptor = NativePages.openToAdvise(file);
    this.end = end;
  }

  /// The record at `offset` is about to be visited.
  void visit(long offset) {
    long distance = offset - last;
    last = offset;
    if (distance == stride && distance >= LEAST_STRIDE && descriptor >= 0) {
      fetch(offset);
    }
    stride = distance;
  }

  private void fetch(long offset) {
    long to = Math.min(end, offset + RECORDS * stride + 1);
    for (long at = offset + Math.max(1, (fetched - offset) / stride + 1) * stride; at < to; at += stride) {
      PageAdvice.fetch(descriptor, at - BEFORE_BYTES, BEFORE_BYTES + HEAD_BYTES);
      fetched = at;
    }
  }

  @Override
  public void close() {
    if (descriptor >= 0) {
      NativePages.close(descriptor);
    }
  }
}
