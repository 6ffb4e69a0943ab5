package io.penstock.storage;

import io.penstock.KvException;
import io.penstock.storage.engine.EngineOptions;
import io.penstock.storage.engine.SegmentEngine;

/// How high the disk under a journal has risen, whoever fills it. Used by the thread that appends.
final class DiskWater {
  /// A look costs a call of the system.
  private static final long LOOK_MILLIS = 20;

  private final SegmentEngine engine;
  private final ReclaimOptions options;
  private final long needed;
  private final JournalClock clock;
  private boolean looked;
  private long lookedAt;
  private boolean draining;

  DiskWater(SegmentEngine engine, JournalOptions options, JournalClock clock) {
    this.engine = engine;
    this.options = options.reclaim();
    EngineOptions segments = options.segments();
    this.needed = segments.keepFreeBytes() + segments.segmentBytes();
    this.clock = clock;
  }

  /// Whether anybody looks.
  boolean isWatched() {
    return options.diskHighWater() < 1;
  }

  /// Whether it has risen above the high water, and has not sunk to the low one since.
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
      draining = engine.space().used() > (draining ? options.diskLowWater() : options.diskHighWater());
    } catch (KvException e) {
      // who cannot ask goes on with what he knew; whoever writes next hears of it
    }
  }

  /// Whether another segment leaves enough free; true if nobody knows.
  boolean hasRoom() {
    try {
      return !isWatched() || engine.space().usableBytes() >= needed;
    } catch (KvException e) {
      return true;
    }
  }
}
