package io.penstock.storage;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import io.penstock.storage.check.QuarantineBound;
import io.penstock.storage.disk.HealthOptions;
import io.penstock.storage.disk.SyncMode;
import io.penstock.storage.disk.SyncRule;
import io.penstock.storage.engine.EngineOptions;
import java.nio.file.Path;

/// Options of a [JournalStore].
///
/// @param name named in receipts, errors and meters
/// @param directory of the journal, made if it is missing; for one process at a time
/// @param engine that keeps the records
/// @param segments how large segments are, and how much of the disk stays free
/// @param bounds of threads, waiting work and quarantine
/// @param durability when appended bytes are forced to the medium, and so what a receipt promises
/// @param reclaim how much of the disk the journal takes, and when compaction runs
/// @param health when the disk counts as stalled, and how often probes try it
public record JournalOptions(String name, Path directory, EngineKind engine, EngineOptions segments, Bounds bounds,
    SyncRule durability, ReclaimOptions reclaim, HealthOptions health) {
  /// What a journal has at most.
  ///
  /// @param ioThreads threads that read
  /// @param maxWaitingPuts most batches that wait; a further one fails at once
  /// @param maxWaitingReads most reads in progress; a further one fails at once
  /// @param quarantine bound of damaged bytes that are kept
  public record Bounds(int ioThreads, int maxWaitingPuts, int maxWaitingReads, QuarantineBound quarantine) {
    public Bounds {
      Checks.positive("ioThreads", ioThreads);
      Checks.positive("maxWaitingPuts", maxWaitingPuts);
      Checks.positive("maxWaitingReads", maxWaitingReads);
      requireNonNull(quarantine, "quarantine");
    }
  }

  /// Minimum number of segments: one to append to, one to move blocks to, and two to move blocks from.
  private static final int LEAST_SEGMENTS = 4;

  /// Fewer unsynced bytes would mean to wait for the medium most of the time.
  private static final long LEAST_UNSYNCED = 64L << 20;

  /// Number of spare files: segments are deleted one by one where blocks leave in the order in which they came.
  private static final int SPARES = 2;

  public JournalOptions {
    requireNonNull(name, "name");
    requireNonNull(directory, "directory");
    requireNonNull(engine, "engine");
    requireNonNull(segments, "segments");
    requireNonNull(bounds, "bounds");
    requireNonNull(durability, "durability");
    requireNonNull(health, "health");
    if (requireNonNull(reclaim, "reclaim").capacityBytes() < LEAST_SEGMENTS * segments.segmentBytes()) {
      throw new IllegalArgumentException(
          "capacityBytes must be >= " + LEAST_SEGMENTS + " segments, " + LEAST_SEGMENTS * segments.segmentBytes()
              + " (was " + reclaim.capacityBytes() + ")");
    }
  }

  /// Named `ssd`: Chronicle, segments of 1 GiB, 8 threads, 64 puts, 1,024 reads; synced each second; no capacity.
  public static JournalOptions defaults(Path directory) {
    return new JournalOptions("ssd", directory, EngineKind.CHRONICLE, EngineOptions.defaults(),
        new Bounds(8, 64, 1024, QuarantineBound.defaults()), SyncRule.defaults(), ReclaimOptions.defaults(),
        HealthOptions.defaults());
  }

  public JournalOptions withName(String name) {
    return new JournalOptions(name, directory, engine, segments, bounds, durability, reclaim, health);
  }

  public JournalOptions withEngine(EngineKind engine) {
    return new JournalOptions(name, directory, engine, segments, bounds, durability, reclaim, health);
  }

  public JournalOptions withSegments(EngineOptions segments) {
    return new JournalOptions(name, directory, engine, segments, bounds, durability, reclaim, health);
  }

  public JournalOptions withSegmentBytes(long segmentBytes) {
    return withSegments(segments.withSegmentBytes(segmentBytes));
  }

  private JournalOptions withBounds(Bounds bounds) {
    return new JournalOptions(name, directory, engine, segments, bounds, durability, reclaim, health);
  }

  public JournalOptions withIoThreads(int ioThreads) {
    return withBounds(
        new Bounds(ioThreads, bounds.maxWaitingPuts, bounds.maxWaitingReads, bounds.quarantine));
  }

  public JournalOptions withMaxWaitingPuts(int maxWaitingPuts) {
    return withBounds(
        new Bounds(bounds.ioThreads, maxWaitingPuts, bounds.maxWaitingReads, bounds.quarantine));
  }

  public JournalOptions withMaxWaitingReads(int maxWaitingReads) {
    return withBounds(
        new Bounds(bounds.ioThreads, bounds.maxWaitingPuts, maxWaitingReads, bounds.quarantine));
  }

  public JournalOptions withDurability(SyncRule durability) {
    return new JournalOptions(name, directory, engine, segments, bounds, durability, reclaim, health);
  }

  public JournalOptions withReclaim(ReclaimOptions reclaim) {
    return new JournalOptions(name, directory, engine, segments, bounds, durability, reclaim, health);
  }

  public JournalOptions withHealth(HealthOptions health) {
    return new JournalOptions(name, directory, engine, segments, bounds, durability, reclaim, health);
  }

  public JournalOptions withQuarantine(QuarantineBound quarantine) {
    return withBounds(
        new Bounds(bounds.ioThreads, bounds.maxWaitingPuts, bounds.maxWaitingReads, quarantine));
  }

  /// As in [ReclaimOptions#capacityBytes()].
  public JournalOptions withCapacityBytes(long capacityBytes) {
    return withReclaim(reclaim.withCapacityBytes(capacityBytes));
  }

  /// As in [EngineOptions#cacheBytes()].
  public JournalOptions withCacheBytes(long cacheBytes) {
    return withSegments(segments.withCacheBytes(cacheBytes));
  }

  /// The rule by which the store syncs: only forced bytes can leave the page cache, also if nothing is promised.
  SyncRule syncs() {
    return durability.mode() == SyncMode.NONE && segments.cacheBytes() != EngineOptions.UNLIMITED
        ? SyncRule.defaults().withBytes(Math.max(LEAST_UNSYNCED, segments.cacheBytes()))
        : durability;
  }

  /// Options of the engine. Deleted files are written anew only if nothing is promised about a failure of the machine.
  EngineOptions engineOptions() {
    return segments.withSpareSegments(durability.mode() == SyncMode.NONE ? SPARES : 0);
  }

  /// Segments that fit the capacity; the least number if the capacity is unlimited.
  long mostSegments() {
    long capacity = reclaim.capacityBytes();
    return capacity == ReclaimOptions.UNLIMITED ? LEAST_SEGMENTS : capacity / segments.segmentBytes();
  }

  /// Number of the newest segments that may have lost unsynced bytes when the machine failed. At least one: its end may
  /// be torn.
  int doubtfulSegments() {
    long bytes = durability.mode() == SyncMode.INTERVAL ? durability.bytes() : 0;
    long segment = segments.segmentBytes();
    return (int) Math.min(Integer.MAX_VALUE, 1 + (bytes + segment - 1) / segment)
        + (durability.mode() == SyncMode.ALWAYS ? 1 : 0);
  }
}
