package io.penstock.lab.torture;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.storage.EngineKind;
import io.penstock.storage.JournalOptions;
import io.penstock.storage.ReclaimOptions;
import io.penstock.storage.disk.HealthOptions;
import io.penstock.storage.disk.SyncMode;
import io.penstock.storage.disk.SyncRule;
import java.nio.file.Path;
import java.time.Duration;

/// The journal that is tortured: blocks of 32 KiB in segments of 1 MiB, 16 of them at most, so that segments end, go
/// and are emptied all the time. A block's number is its key.
final class TortureJournal {
  static final CacheSpace SPACE = CacheSpace.of("torture", BlockLayout.attention(2, 16, 4, 64, ElementType.BF16));
  static final long SEGMENT_BYTES = 1 << 20;
  static final int SEGMENTS = 16;
  /// Number of blocks that the writer keeps: more than half of the room.
  static final int LIVE_BLOCKS = 260;

  private static final long HIGH = 0x70656e73746f636bL;
  /// Limits for a machine on which everything waits for a processor: answers are late although the disk is not.
  private static final HealthOptions HEALTH = HealthOptions.defaults().withStallAfter(Duration.ofMinutes(10));
  private static final SyncRule INTERVAL = SyncRule.interval(Duration.ofMillis(20), 4 << 20);

  private TortureJournal() {}

  static JournalOptions options(Path directory, EngineKind engine, SyncMode durability) {
    ReclaimOptions reclaim =
        ReclaimOptions.defaults().withCapacityBytes(SEGMENTS * SEGMENT_BYTES).withBytesPerSecond(1L << 30);
    return JournalOptions.defaults(directory).withEngine(engine).withSegmentBytes(SEGMENT_BYTES).withIoThreads(2)
        .withDurability(INTERVAL.withMode(durability)).withReclaim(reclaim).withHealth(HEALTH);
  }

  static BlockKey key(long number) {
    return SPACE.key(new BlockHash(HIGH, number));
  }

  static long number(BlockKey key) {
    return key.hash().low();
  }
}
