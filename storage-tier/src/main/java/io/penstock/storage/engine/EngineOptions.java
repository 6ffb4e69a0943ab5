package io.penstock.storage.engine;

import io.penstock.check.Checks;
import io.penstock.storage.engine.EngineFailure.StorageFullException;
import java.io.IOException;

/// Layout of the segments of a [SegmentEngine].
///
/// @param segmentBytes capacity of one segment; a record may take an eighth of it
/// @param keepFreeBytes bytes that stay free on the medium when a segment is begun
/// @param spareSegments maximum number of files of deleted segments that are kept and reused. With any, a failure of
///     the machine may lose more than unsynced bytes: the medium may have the name of one segment and the bytes of
///     another
/// @param cacheBytes maximum bytes, the newest, that stay in the system's page cache after they were forced;
///     [#UNLIMITED] for no bound
public record EngineOptions(long segmentBytes, long keepFreeBytes, int spareSegments, long cacheBytes) {
  /// No bound.
  public static final long UNLIMITED = Long.MAX_VALUE;

  /// Smallest capacity of a segment.
  public static final long MIN_SEGMENT_BYTES = 1 << 20;

  /// Largest capacity of a segment.
  public static final long MAX_SEGMENT_BYTES = 16L << 30;

  /// Longest record, for any segments.
  static final int MOST_RECORD_BYTES = 1 << 30;

  public EngineOptions {
    if (segmentBytes < MIN_SEGMENT_BYTES || segmentBytes > MAX_SEGMENT_BYTES) {
      throw new IllegalArgumentException("segmentBytes must be in [1 MiB, 16 GiB] (was " + segmentBytes + ")");
    }
    Checks.notNegative("keepFreeBytes", keepFreeBytes);
    Checks.notNegative("spareSegments", spareSegments);
    Checks.notNegative("cacheBytes", cacheBytes);
  }

  /// Without spare segments, and with an unlimited page cache.
  public EngineOptions(long segmentBytes, long keepFreeBytes) {
    this(segmentBytes, keepFreeBytes, 0, UNLIMITED);
  }

  /// Segments of 1 GiB; 256 MiB stay free.
  public static EngineOptions defaults() {
    return new EngineOptions(1L << 30, 256L << 20);
  }

  public EngineOptions withSegmentBytes(long segmentBytes) {
    return new EngineOptions(segmentBytes, keepFreeBytes, spareSegments, cacheBytes);
  }

  public EngineOptions withKeepFreeBytes(long keepFreeBytes) {
    return new EngineOptions(segmentBytes, keepFreeBytes, spareSegments, cacheBytes);
  }

  public EngineOptions withSpareSegments(int spareSegments) {
    return new EngineOptions(segmentBytes, keepFreeBytes, spareSegments, cacheBytes);
  }

  public EngineOptions withCacheBytes(long cacheBytes) {
    return new EngineOptions(segmentBytes, keepFreeBytes, spareSegments, cacheBytes);
  }

  /// Largest record.
  public int maxRecordBytes() {
    return (int) Math.min(MOST_RECORD_BYTES, segmentBytes / 8);
  }

  /// @throws StorageFullException if another segment would leave less free than [#keepFreeBytes()]
  public void requireRoom(String place, FreeSpace space) throws IOException {
    long usable = space.usableBytes();
    if (usable < segmentBytes || usable - segmentBytes < keepFreeBytes) {
      throw new StorageFullException(place, segmentBytes + keepFreeBytes, usable, null);
    }
  }
}
