package io.penstock.storage;

/// What failed syncs covered, and may never be on the medium: bytes of a [SyncQueue], by their positions. One thread at
/// a time.
final class LostRange {
  /// What is lost lies between these; some of it in between may not be.
  private long from;
  private long to;
  private long bytes;

  /// A sync failed that began when all before `synced` was on the medium.
  ///
  /// @param end of what it may have left with holes; what was lost before is so still
  void add(long synced, long end) {
    long next = Math.max(to, end);
    if (bytes == 0) {
      from = synced;
    }
    bytes += next - Math.max(to, synced);
    to = next;
  }

  /// Whether some of what lies between these is lost.
  boolean touches(long first, long last) {
    return first < to && last > from;
  }

  /// Whether nothing is lost behind `position`.
  boolean endsBy(long position) {
    return to <= position;
  }

  long bytes() {
    return bytes;
  }
}
