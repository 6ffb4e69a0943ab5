package io.penstock.storage;

import io.penstock.KvException;
import io.penstock.storage.disk.JournalClock;
import io.penstock.storage.engine.EngineOptions;
import io.penstock.storage.engine.SegmentEngine;

/// Compares the use of the disk, by all programs, with the watermarks. Used by the thread that appends.
final class DiskWatermarks {
  /// Minimum time between two looks, which are system calls.
  private static final long LOOK_MILLIS = 20;

  private final SegmentEngine engine;
  private final ReclaimOptions options;
  private final long keptFree;
  private final long needed;
  private final JournalClock clock;
  private boolean looked;
  private long lookedAt;
  private boolean draining;

  DiskWatermarks(SegmentEngine engine, JournalOptions options, JournalClock clock) {
    this.engine = engine;
    this.options = options.reclaim();
    EngineOptions segments = options.segments();
    this.keptFree = segments.keepFreeBytes();
    this.needed = segments.keepFreeBytes() + segments.segmentBytes();
    this.clock = clock;
  }

  /// Whether there are watermarks.
  boolean isWatched() {
    return options.diskHighWatermark() < 1;
  }

  /// Whether the use exceeded the high watermark, and has not fallen to the low one since.
  boolean isTooHigh() {
    if (isWatched() && (!looked || !clock.runs() || clock.millis() - lookedAt >= LOOK_MILLIS)) {
      look();
    }
    return draining;
  }

  private void look() {
    looked = true;
    lookedAt = clock.millis();
    try {
      draining = engine.space().used() > (draining ? options.diskLowWatermark() : options.diskHighWatermark());
    } catch (KvException e) {
      // keep the last answer
    }
  }

  /// Whether a journal may take another segment: the disk is not too full, and the segment leaves enough free. True if
  /// the disk does not report its space.
  boolean hasRoom() {
    return !isWatched() || (!isTooHigh() && leaves(needed));
  }

  /// Whether a segment of the journal that is deleted makes room for another one.
  boolean mayReplace() {
    return leaves(keptFree);
  }

  private boolean leaves(long bytes) {
    try {
      return engine.space().usableBytes() >= bytes;
    } catch (KvException e) {
      return true;
    }
  }
}
