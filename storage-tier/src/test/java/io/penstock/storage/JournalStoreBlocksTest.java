package io.penstock.storage;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.storage.disk.SyncRule;
import io.penstock.storage.engine.EngineOptions;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.MemoryDisk;
import io.penstock.storage.engine.MemoryEngine;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.engine.file.ChronicleEngine;
import io.penstock.storage.engine.file.PlainEngine;
import io.penstock.storage.record.RecordFormat;
import io.penstock.testkit.BlockStoreContract;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.StoredBlock;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.io.TempDir;

/// The contract of a store, kept by a journal on every engine. What only a journal promises stands in
/// [JournalStoreContract].
final class JournalStoreBlocksTest {
  private static final EngineOptions SEGMENTS = new EngineOptions(1 << 20, 0);

  private abstract static class Contract extends BlockStoreContract {
    /// Where the bits of a record's payload are flipped.
    private final Map<Location, Long> damage = new ConcurrentHashMap<>();
    /// What opens the medium of each store once more.
    private final Map<BlockStore, Supplier<SegmentEngine>> media = new HashMap<>();
    private int opened;

    /// What opens medium `number` again and again.
    abstract Supplier<SegmentEngine> medium(int number);

    @Override
    protected BlockStore openStore(int capacityBlocks) {
      opened++;
      return open(medium(opened));
    }

    private BlockStore open(Supplier<SegmentEngine> medium) {
      JournalOptions options =
          JournalOptions.defaults(Path.of("unused")).withSegmentBytes(SEGMENTS.segmentBytes()).withIoThreads(2)
              .withDurability(SyncRule.none());
      JournalThreads threads = JournalThreads.own(options);
      SegmentEngine engine = new Damaged(medium.get(), damage, RecordFormat.headBytes(space.layout()));
      JournalStore store = JournalStore.open(space, options, engine, threads.appending(), threads.reading());
      media.put(store, medium);
      return store;
    }

    @Override
    protected @Nullable BlockStore reopenStore(BlockStore closed) {
      return open(requireNonNull(media.get(closed)));
    }

    @Override
    protected List<StoredBlock> putDamaged(BlockStore store, List<Block> blocks, int index, long offset) {
      List<StoredBlock> stored = requireNonNull(store.put(blocks).block(PATIENCE));
      damage.put(((StoredRecord) stored.get(index)).at(), offset);
      return stored;
    }

    @Override
    protected long storedBlocks(BlockStore closed) {
      BlockStore again = requireNonNull(reopenStore(closed));
      int found = again.recovered().size();
      again.close().block(PATIENCE);
      return found;
    }
  }

  /// An engine whose medium gives back some records with a flipped bit.
  private static final class Damaged extends WrappedEngine {
    private final Map<Location, Long> damage;
    private final int headBytes;

    private Damaged(SegmentEngine engine, Map<Location, Long> damage, int headBytes) {
      super(engine);
      this.damage = damage;
      this.headBytes = headBytes;
    }

    @Override
    public void read(Location record, long from, MemorySegment into) {
      super.read(record, from, into);
      Long offset = damage.get(record);
      long at = offset == null ? -1 : headBytes + offset - from;
      if (at >= 0 && at < into.byteSize()) {
        into.set(JAVA_BYTE, at, (byte) (into.get(JAVA_BYTE, at) ^ 1));
      }
    }
  }

  @Nested
  final class OnChronicle extends Contract {
    @TempDir
    Path temporary;

    @Override
    Supplier<SegmentEngine> medium(int number) {
      return () -> ChronicleEngine.open(temporary.resolve("journal-" + number), SEGMENTS);
    }
  }

  @Nested
  final class OnPlainFiles extends Contract {
    @TempDir
    Path temporary;

    @Override
    Supplier<SegmentEngine> medium(int number) {
      return () -> PlainEngine.open(temporary.resolve("journal-" + number), SEGMENTS);
    }
  }

  @Nested
  final class InMemory extends Contract {
    @Override
    Supplier<SegmentEngine> medium(int number) {
      MemoryDisk disk = new MemoryDisk();
      return () -> MemoryEngine.open(disk, SEGMENTS);
    }
  }
}
