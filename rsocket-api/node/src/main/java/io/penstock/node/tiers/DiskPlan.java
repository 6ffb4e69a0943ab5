package io.penstock.node.tiers;

import static java.util.Objects.requireNonNull;

import io.penstock.storage.EngineKind;
import io.penstock.storage.ScrubOptions;
import io.penstock.storage.check.QuarantineBound;
import io.penstock.storage.disk.HealthOptions;
import io.penstock.storage.disk.SyncRule;
import java.nio.file.Path;

/// Place and form of blocks on disk.
///
/// @param folder of the journal; one process at a time
/// @param engine of the records
/// @param segmentBytes capacity of one file; [#AUTO] follows from the capacity of the level
/// @param durability time at which written records are forced to the medium
/// @param scrub reading of stored records in the background
/// @param share its part of the disk, and of the page cache
/// @param health time after which the disk counts as silent
/// @param quarantine bound on damaged records that are kept
/// @param opensBehind whether a disk that takes longer than [HealthOptions#stallAfter()] goes on opening while the
///     other levels serve
public record DiskPlan(Path folder, EngineKind engine, long segmentBytes, SyncRule durability, ScrubOptions scrub,
    DiskShare share, HealthOptions health, QuarantineBound quarantine, boolean opensBehind) {
  /// Files of an eighth of the capacity, from 64 MiB to 1 GiB, and of 8 blocks or more. A file is deleted when it has
  /// no live record: small files are deleted before the system has written them to the medium, large ones are few.
  public static final long AUTO = 0;

  private static final long SMALLEST_BYTES = 64L << 20;
  private static final long LARGEST_BYTES = 1L << 30;
  private static final int FILES = 8;
  private static final int BLOCKS_A_FILE = 8;
  private static final long ROUND_BYTES = 1L << 20;

  public DiskPlan {
    requireNonNull(folder, "folder");
    requireNonNull(engine, "engine");
    requireNonNull(durability, "durability");
    requireNonNull(scrub, "scrub");
    requireNonNull(share, "share");
    requireNonNull(health, "health");
    requireNonNull(quarantine, "quarantine");
    if (segmentBytes < 0) {
      throw new IllegalArgumentException(
          "segmentBytes must be >= 0, 0 for what follows from the capacity (was " + segmentBytes + ")");
    }
  }

  /// Chronicle Queue, files of a size that follows from the capacity, synced each second, not read in the background; a
  /// start waits until it is open.
  public static DiskPlan in(Path folder) {
    return new DiskPlan(folder, EngineKind.CHRONICLE, AUTO, SyncRule.defaults(), ScrubOptions.off(),
        DiskShare.unlimited(),
        HealthOptions.defaults(), QuarantineBound.defaults(), false);
  }

  public DiskPlan withEngine(EngineKind engine) {
    return new DiskPlan(folder, engine, segmentBytes, durability, scrub, share, health, quarantine, opensBehind);
  }

  public DiskPlan withSegmentBytes(long segmentBytes) {
    return new DiskPlan(folder, engine, segmentBytes, durability, scrub, share, health, quarantine, opensBehind);
  }

  public DiskPlan withHealth(HealthOptions health) {
    return new DiskPlan(folder, engine, segmentBytes, durability, scrub, share, health, quarantine, opensBehind);
  }

  public DiskPlan withDurability(SyncRule durability) {
    return new DiskPlan(folder, engine, segmentBytes, durability, scrub, share, health, quarantine, opensBehind);
  }

  /// The plan for one of several spaces, in a folder of its own in this folder.
  ///
  /// @param part of the space in the whole disk
  public DiskPlan ofSpace(String name, double part) {
    return new DiskPlan(folder.resolve(name), engine, segmentBytes, durability, scrub, share.part(part), health,
        quarantine, opensBehind);
  }

  /// Capacity of one file.
  ///
  /// @param blocks kept on the disk
  /// @param recordBytes of one of them
  long segmentBytes(long blocks, int recordBytes) {
    if (segmentBytes != AUTO) {
      return segmentBytes;
    }
    long most = LARGEST_BYTES * FILES / recordBytes; // more blocks make no difference
    long share = Math.max(SMALLEST_BYTES, Math.min(blocks, most) * recordBytes / FILES);
    long bytes = Math.max(share, (long) BLOCKS_A_FILE * recordBytes);
    return (bytes + ROUND_BYTES - 1) / ROUND_BYTES * ROUND_BYTES;
  }
}
