package io.penstock.storage;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.Block;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.EvictionPolicy;
import io.penstock.block.SlabArena;
import io.penstock.pool.Ledger;
import io.penstock.stack.shape.StackOptions;
import io.penstock.storage.checkpoint.Checkpoints;
import io.penstock.storage.checkpoint.RecordSummary;
import io.penstock.storage.engine.EngineOptions;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.MemoryDisk;
import io.penstock.storage.engine.MemoryEngine;
import io.penstock.storage.engine.SegmentWindow;
import io.penstock.storage.record.RecordFormat;
import io.penstock.storage.record.RecordWriter;
import io.penstock.testkit.Blocks;
import io.penstock.tier.TierListener;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// What a block costs that is stored on the disk and is not used: a tier is opened on checkpoints of as many blocks as
/// wanted, whose records were never written, and the heap is measured before and after. Nothing of an index is outside
/// the heap.
@Timeout(300)
final class ColdTierSizeTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();
  private static final int RECORD = RecordFormat.recordBytes(SPACE.layout());
  private static final int SEGMENT_RECORDS = 1 << 16;
  private static final double MOST_BYTES = 64;

  @TempDir
  Path directory;

  private int opened;
  /// What the newest opening took.
  private long millis;

  @Test
  void blocks_takeAtMost64BytesEach() {
    requireSmall(300_000);
  }

  @Tag("proof")
  @ParameterizedTest
  @ValueSource(ints = {1_000_000, 10_000_000})
  void millionsOfBlocks_takeAtMost64BytesEach(int blocks) {
    requireSmall(blocks);
  }

  private void requireSmall(int blocks) {
    indexBytes(1000); // classes are loaded once
    tierBytes(1000);
    double index = indexBytes(blocks);
    double tier = tierBytes(blocks);
    for (int again = 1; again < 3 && tier > MOST_BYTES; again++) { // what a collection leaves behind can only add
      tier = Math.min(tier, tierBytes(blocks));
    }
    String told = "%d blocks: %.1f bytes each in the ledger, %.1f in all of the tier, opened in %d ms".formatted(blocks,
        index, tier, millis);
    System.out.println(told);
    assertThat(index).as(told).isLessThanOrEqualTo(MOST_BYTES);
    assertThat(tier).as(told).isLessThanOrEqualTo(MOST_BYTES);
  }

  /// The first and the last record of a segment.
  private record Ends(MemorySegment records, long lastAt) {
    private SegmentWindow window() {
      try {
        return SegmentWindow.of(Path.of("segment"), new TwoRecords(records.asByteBuffer(), lastAt));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private double tierBytes(int blocks) {
    opened++;
    Path journal = directory.resolve(Integer.toString(opened));
    TreeMap<Integer, Ends> ends = new TreeMap<>();
    writeCheckpoints(journal, blocks, ends);
    JournalOptions options = JournalOptions.defaults(journal)
        .withReclaim(ReclaimOptions.defaults().withMostSpread(Double.MAX_VALUE)); // there is nothing to move
    long before = usedBytes();
    long start = System.nanoTime();
    try (MemoryDisk disk = new MemoryDisk()) {
      JournalStore store =
          JournalStore.open(SPACE, options, new Synthetic(disk, journal, ends), Runnable::run, Runnable::run);
      JournalTier tier = new JournalTier(store, Ledger.UNBOUNDED, StackOptions.defaults("ssd").withEventLogSize(64),
          TierListener.noop());
      millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
      double bytes = (double) (usedBytes() - before) / blocks;
      assertThat(Objects.requireNonNull(tier.stat().block()).blocks()).isEqualTo(blocks);
      List<BlockKey> some = LongStream.range(0, 1000).mapToObj(i -> key(i * blocks / 1000)).toList();
      assertThat(tier.match(some).block()).isEqualTo(1000);
      assertThat(tier.match(List.of(key(blocks))).block()).isZero();
      tier.close().block();
      return bytes;
    }
  }

  private static double indexBytes(int blocks) {
    long before = usedBytes();
    Ledger<BlockKey> ledger = new Ledger<>(SPACE.id(), EvictionPolicy.LRU, Ledger.UNBOUNDED);
    for (int i = 0; i < blocks; i++) {
      ledger.insertNumberAt(0, key(i), i, (key, value, level) -> {});
    }
    double bytes = (double) (usedBytes() - before) / blocks;
    assertThat(ledger.number(key(blocks - 1))).isEqualTo(blocks - 1);
    return bytes;
  }

  private static long usedBytes() {
    for (int i = 0; i < 3; i++) {
      System.gc();
    }
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  private static BlockKey key(long number) {
    return new BlockKey(SPACE.id(), new BlockHash(number * 0x9E3779B97F4A7C15L, (number + 1) * 0xD6E8FEB86659FD93L));
  }

  /// @param ends gets the first and the last record of each segment: all that an opening looks at
  private static void writeCheckpoints(Path directory, int blocks, TreeMap<Integer, Ends> ends) {
    assertThat(directory.toFile().mkdirs()).isTrue();
    Checkpoints checkpoints = new Checkpoints(directory);
    RecordWriter writer = new RecordWriter(SPACE.layout());
    try (SlabArena arena = new SlabArena("host", SPACE.layout(), 1, 1)) {
      for (int from = 0; from < blocks; from += SEGMENT_RECORDS) {
        int segment = 1 + from / SEGMENT_RECORDS;
        List<RecordSummary> records = new ArrayList<>(SEGMENT_RECORDS);
        for (int i = from; i < Math.min(blocks, from + SEGMENT_RECORDS); i++) {
          records
              .add(new RecordSummary(new Location(segment, (long) (i - from) * RECORD, RECORD), key(i), i + 1, i,
                  List.of()));
        }
        MemorySegment heads = Arena.ofAuto().allocate(2L * RECORD);
        for (int end = 0; end < 2; end++) {
          int at = end * (records.size() - 1);
          RecordSummary noted = records.get(at);
          heads.asSlice((long) end * RECORD, RECORD).copyFrom(record(writer, arena, noted));
          records.set(at, new RecordSummary(noted.at(), noted.key(), noted.sequence(), writer.crc(), List.of()));
        }
        ends.put(segment, new Ends(heads, (records.size() - 1L) * RECORD));
        checkpoints.write(segment, records, false);
      }
    }
  }

  private static MemorySegment record(RecordWriter writer, SlabArena arena, RecordSummary noted) {
    MemorySegment record = Arena.ofAuto().allocate(RECORD);
    try (Block block = Blocks.block(arena, noted.key())) {
      block.read(payload -> {
        long at = 0;
        for (MemorySegment part : writer.block(block, payload, noted.sequence(), noted.at().segment())) {
          MemorySegment.copy(part, 0, record, at, part.byteSize());
          at += part.byteSize();
        }
        return at;
      });
    }
    return record;
  }

  /// An engine whose segments have a first and a last record each, and beside that nothing.
  private static final class Synthetic extends WrappedEngine {
    private final Path directory;
    private final TreeMap<Integer, Ends> ends;

    Synthetic(MemoryDisk disk, Path directory, TreeMap<Integer, Ends> ends) {
      super(MemoryEngine.open(disk, EngineOptions.defaults()));
      this.directory = directory;
      this.ends = ends;
    }

    @Override
    public Path directory() {
      return directory;
    }

    @Override
    public List<Integer> segments() {
      return List.copyOf(ends.keySet());
    }

    @Override
    public SegmentWindow window(int segment, int pieceBytes) {
      return Objects.requireNonNull(ends.get(segment)).window();
    }
  }
}
