package io.penstock.node.tiers;

import static java.util.Objects.requireNonNull;

import io.penstock.storage.EngineKind;
import java.nio.file.Path;

/// Where and how blocks rest on disk.
///
/// @param folder of the journal; one process at a time
/// @param engine what keeps the records
/// @param segmentBytes capacity of one file
public record DiskPlan(Path folder, EngineKind engine, long segmentBytes) {
  private static final long SEGMENT_BYTES = 1L << 30;

  public DiskPlan {
    requireNonNull(folder, "folder");
    requireNonNull(engine, "engine");
  }

  /// Chronicle Queue, files of 1 GiB.
  public static DiskPlan in(Path folder) {
    return new DiskPlan(folder, EngineKind.CHRONICLE, SEGMENT_BYTES);
  }

  public DiskPlan withEngine(EngineKind engine) {
    return new DiskPlan(folder, engine, segmentBytes);
  }

  public DiskPlan withSegmentBytes(long segmentBytes) {
    return new DiskPlan(folder, engine, segmentBytes);
  }
}
