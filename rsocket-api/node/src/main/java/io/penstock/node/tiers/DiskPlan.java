package io.penstock.node.tiers;

import static java.util.Objects.requireNonNull;

import io.penstock.storage.EngineKind;
import io.penstock.storage.ScrubOptions;
import io.penstock.storage.check.QuarantineBound;
import io.penstock.storage.disk.HealthOptions;
import io.penstock.storage.disk.SyncRule;
import java.nio.file.Path;

/// Where and how blocks rest on disk.
///
/// @param folder of the journal; one process at a time
/// @param engine what keeps the records
/// @param segmentBytes capacity of one file; [#AUTO] follows from what is kept
/// @param durability when what was written is forced to the medium
/// @param scrub how stored records are read in the background
/// @param share how much of the disk, and of the page cache, it takes
/// @param health when it counts as one that does not answer
/// @param quarantine how much damage is kept aside
/// @param opensBehind whether a disk that takes longer than [HealthOptions#stallAfter()] goes on opening while the
///     other levels serve
public record DiskPlan(Path folder, EngineKind engine, long segmentBytes, SyncRule durability, ScrubOptions scrub,
    DiskShare share, HealthOptions health, QuarantineBound quarantine, boolean opensBehind) {
  /// Files of an eighth of what is kept, from 64 MiB to 1 GiB, and of 8 blocks or more. A file goes when nothing in it
  /// counts any more: small ones go before the system has written them to the medium, large ones are few.
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

  /// Chronicle Queue, files of a size that follows from what is kept, synced each second, not read in the background; a
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

  public DiskPlan withDurability(SyncRule durability) {
    return new DiskPlan(folder, engine, segmentBytes, durability, scrub, share, health, quarantine, opensBehind);
  }

  /// The same for one of several spaces, in a folder of its own in this folder.
  ///
  /// @param part of the space, of what the whole takes of the disk
  DiskPlan ofSpace(String name, double part) {
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
