package io.penstock.examples.pressure;

import static java.util.Objects.requireNonNull;

import io.penstock.block.CacheSpace;
import io.penstock.node.shape.BlockShape;
import io.penstock.node.text.Sizes;
import io.penstock.stack.shape.StackOptions;
import io.penstock.storage.EngineKind;
import io.penstock.storage.JournalOptions;
import io.penstock.storage.disk.SyncMode;
import io.penstock.storage.disk.SyncRule;
import java.nio.file.Path;

/// What a [PressureRun] does.
///
/// @param disk how blocks are written
/// @param putBytes bytes of all blocks together
/// @param memoryBytes all host memory of the stack: blocks that are kept there, that are being written, and that are on
///     their way to the disk or to readers
/// @param blockBytes bytes of a block
/// @param layers of a block; each has keys and values with a checksum of their own
/// @param reads what is read meanwhile
/// @param seed what the keys, and so the bytes, are made from
record PressureOptions(Disk disk, long putBytes, long memoryBytes, int blockBytes, int layers, ReadBack reads,
    long seed) {
  private static final long MOST_WINDOW_BYTES = 8L << 20;
  private static final int LEAST_WINDOWS = 32;
  private static final long LARGEST_SEGMENT_BYTES = 512L << 20;
  private static final int SEGMENTS = 8;

  /// Number of windows that are written at a time.
  static final int WINDOWS_AT_ONCE = 4;

  PressureOptions {
    requireNonNull(disk, "disk");
    requireNonNull(reads, "reads");
    if (memoryBytes < (long) LEAST_WINDOWS * blockBytes) {
      throw new IllegalArgumentException("--dram must be >= %d blocks of --block-bytes, %s (was %s)"
          .formatted(LEAST_WINDOWS, Sizes.exact(blockBytes), Sizes.exact(memoryBytes)));
    }
    if (putBytes < memoryBytes) {
      throw new IllegalArgumentException(
          "--put must be >= --dram, %s (was %s)".formatted(Sizes.exact(memoryBytes), Sizes.exact(putBytes)));
    }
  }

  /// How blocks are written.
  ///
  /// @param directory of the journal, and of the bare files before it
  /// @param engine what keeps the journal's records
  /// @param mode whether a block goes to the disk when it leaves memory, or before it is visible
  /// @param durability when what was written is forced to the medium, of the journal and of the bare files
  /// @param cacheBytes most bytes of the journal that stay in the page cache once they are on the medium
  record Disk(Path directory, EngineKind engine, StackOptions.Mode mode, SyncMode durability, long cacheBytes) {
    Disk {
      requireNonNull(directory, "directory");
      requireNonNull(engine, "engine");
      requireNonNull(mode, "mode");
      requireNonNull(durability, "durability");
    }
  }

  CacheSpace space() {
    return BlockShape.of(blockBytes, layers).space("pressure");
  }

  int blocks() {
    return Math.toIntExact(putBytes / blockBytes);
  }

  /// Blocks that are put together.
  int windowBlocks() {
    return (int) Math.max(1, Math.min(MOST_WINDOW_BYTES, memoryBytes / LEAST_WINDOWS) / blockBytes);
  }

  /// Slots for blocks that are being written, and for blocks that wait for the disk.
  int ingressBlocks() {
    return 2 * WINDOWS_AT_ONCE * windowBlocks();
  }

  /// Slots for windows on their way up, of those who read.
  int transferBlocks() {
    return 2 * windowBlocks();
  }

  /// Number of blocks that rest in memory: the remaining slots.
  long storedBlocks() {
    return memoryBytes / blockBytes - ingressBlocks() - transferBlocks() - 2L * windowBlocks();
  }

  /// A file of the journal, and of the baseline.
  long segmentBytes() {
    long share = Math.max(Math.min(putBytes / SEGMENTS, LARGEST_SEGMENT_BYTES), 16L * blockBytes);
    return Math.ceilDiv(share, 1 << 20) << 20;
  }

  SyncRule syncs() {
    return SyncRule.defaults().withMode(disk.durability);
  }

  JournalOptions journal() {
    return JournalOptions.defaults(disk.directory.resolve("journal")).withEngine(disk.engine)
        .withSegmentBytes(segmentBytes())
        .withDurability(syncs())
        .withCacheBytes(disk.cacheBytes);
  }
}
