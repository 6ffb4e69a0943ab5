package io.penstock.storage.disk;

/// The bytes of a [SyncQueue] that failed syncs covered, and that may never be on the medium, by their positions. One
/// thread at a time.
final class LostRange {
  /// Bounds of all lost bytes; some bytes in between may not be lost.
  private long from;
  private long to;
  private long bytes;

  /// Adds the bytes of a failed sync.
  ///
  /// @param end of the bytes that may have holes
  void add(long synced, long end) {
    long next = Math.max(to, end);
    if (bytes == 0) {
      from = synced;
    }
    bytes += next - Math.max(to, synced);
    to = next;
  }

  /// Whether some bytes from `first` to `last` are lost.
  boolean touches(long first, long last) {
    return first < to && last > from;
  }

  /// Whether no byte behind `position` is lost.
  boolean endsBy(long position) {
    return to <= position;
  }

  long bytes() {
    return bytes;
  }
}
