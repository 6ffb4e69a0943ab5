package io.penstock.storage;

import io.penstock.block.Block;
import io.penstock.block.CacheSpace;
import io.penstock.storage.disk.HealthOptions;
import io.penstock.storage.disk.SyncRule;
import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import io.penstock.storage.engine.EngineOptions;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.MemoryDisk;
import io.penstock.storage.engine.MemoryEngine;
import io.penstock.storage.record.RecordFormat;
import io.penstock.testkit.Blocks;
import io.penstock.tier.spi.StoreUnavailableException;
import io.penstock.tier.spi.StoredBlock;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import reactor.test.StepVerifier;
import reactor.test.scheduler.VirtualTimeScheduler;

/// A journal whose medium counts what it is asked to force, with a clock that stands still until it is moved.
abstract class SyncFixture extends JournalFixture {
  static final CacheSpace SPACE = Blocks.smallSpace();
  static final int RECORD = RecordFormat.recordBytes(SPACE.layout());
  static final Duration SECOND = Duration.ofSeconds(1);
  /// After a failure, the disk is found well so much later.
  static final Duration PROBE = Duration.ofMillis(5);

  final VirtualTimeScheduler time = VirtualTimeScheduler.create();
  final MemoryDisk disk = new MemoryDisk();
  Medium medium = new Medium(disk);
  JournalStore store;

  SyncFixture() {
    super(SPACE);
  }

  /// A medium that counts what it is asked to force, and may refuse.
  static final class Medium extends WrappedEngine {
    final AtomicInteger forced = new AtomicInteger();
    volatile boolean refuses;
    volatile Runnable whileForcing = () -> {};
    volatile Runnable whileAppending = () -> {};
    volatile boolean closed;
    volatile boolean breaks;
    /// Segments whose delete fails: before the name is gone, and behind that.
    volatile int stays;
    volatile int goes;

    Medium(MemoryDisk disk) {
      super(MemoryEngine.open(disk, new EngineOptions(1 << 20, 0)));
    }

    @Override
    public void sync() {
      if (breaks) {
        throw new IllegalStateException("broken");
      }
      if (refuses) {
        throw new StorageFailedException("sync", new IOException("no"));
      }
      whileForcing.run();
      super.sync();
      forced.incrementAndGet();
    }

    @Override
    public Location append(MemorySegment... parts) {
      if (breaks) {
        throw new IllegalStateException("broken");
      }
      whileAppending.run();
      return super.append(parts);
    }

    @Override
    public void close() {
      closed = true;
      super.close();
    }

    @Override
    public void delete(int segment) {
      if (segment == stays) {
        throw new StorageFailedException("delete", new IOException("no"));
      }
      super.delete(segment);
      if (segment == goes) {
        throw new StorageFailedException("delete", new IOException("half"));
      }
    }
  }

  final void open(SyncRule rule) {
    JournalOptions options = JournalOptions.defaults(Path.of("unused")).withSegmentBytes(1 << 20).withDurability(rule)
        .withHealth(new HealthOptions(Duration.ofHours(10), PROBE, PROBE, PROBE))
        .withReclaim(ReclaimOptions.defaults().withMostSpread(1e9)); // these tests say which segments are there
    store = JournalStore.open(SPACE, options, medium, new SerialExecutor(), Runnable::run, time);
  }

  @AfterEach
  void close() {
    medium.refuses = false;
    if (store != null) {
      store.close().block(PATIENCE);
    }
  }

  final List<StoredBlock> put(long from, long to) {
    return put(store, from, to);
  }

  final void putRefused() {
    try (Block block = Blocks.block(arena, Blocks.key(SPACE, 0))) {
      StepVerifier.create(store.put(List.of(block))).expectErrorMatches(StoreUnavailableException.class::isInstance)
          .verify(PATIENCE);
    }
  }
}
