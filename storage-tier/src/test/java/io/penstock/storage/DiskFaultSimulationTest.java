package io.penstock.storage;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.KvException;
import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.SlabArena;
import io.penstock.storage.FaultyEngine.Fault;
import io.penstock.storage.FaultyEngine.Work;
import io.penstock.storage.disk.SyncMode;
import io.penstock.storage.disk.SyncRule;
import io.penstock.storage.engine.EngineOptions;
import io.penstock.storage.engine.MemoryDisk;
import io.penstock.storage.engine.MemoryEngine;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.StoreHealth;
import io.penstock.tier.spi.BlockUnreadableException;
import io.penstock.tier.spi.StoreUnavailableException;
import io.penstock.tier.spi.StoredBlock;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.test.scheduler.VirtualTimeScheduler;

/// Journals whose disk fails in every way, now and then, in one thread and in the order of a seed: whatever was
/// acknowledged is there when the disk is healthy again, and after a restart, and nothing stays lent.
@Timeout(600)
final class DiskFaultSimulationTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();
  private static final GranuleRange ALL = GranuleRange.all(SPACE.layout());

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final SlabArena arena = leaks.watch(new SlabArena("host", SPACE.layout(), 64, 4));

  @Test
  void whatWasAcknowledged_isThere_over100Seeds() {
    run(0, 100);
  }

  @Test
  @Tag("proof")
  void whatWasAcknowledged_isThere_over30000Seeds() {
    run(100, 30_000);
  }

  private void run(int from, int to) {
    for (int seed = from; seed < to; seed++) {
      try {
        new Simulation(seed).run();
      } catch (Throwable e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
  }

  private final class Simulation {
    private final Random random;
    private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
    private final MemoryDisk medium = new MemoryDisk();
    private final FaultyEngine disk = new FaultyEngine(MemoryEngine.open(medium, new EngineOptions(1 << 20, 0)));
    private final Map<BlockKey, StoredBlock> acknowledged = new LinkedHashMap<>();
    private final SyncRule rule;
    private final JournalStore store;
    private int next;

    Simulation(long seed) {
      this.random = new Random(seed * 0x9E3779B97F4A7C15L);
      this.rule = SyncRule.defaults().withMode(SyncMode.values()[random.nextInt(3)]);
      this.store = open(disk);
    }

    private JournalStore open(SegmentEngine engine) {
      return JournalStore.open(SPACE,
          JournalOptions.defaults(Path.of("unused")).withSegmentBytes(1 << 20).withDurability(rule), engine,
          new SerialExecutor(), Runnable::run, time);
    }

    void run() {
      for (int step = 0; step < 150; step++) {
        switch (random.nextInt(8)) {
          case 0, 1, 2 -> put();
          case 3, 4 -> read(false);
          case 5 -> give();
          case 6 -> time.advanceTimeBy(Duration.ofMillis(random.nextInt(3_000)));
          default -> fault();
        }
      }
      disk.mend();
      time.advanceTimeBy(Duration.ofSeconds(60));
      assertThat(store.health().state()).as("%s", store.health()).isEqualTo(StoreHealth.State.ACTIVE);
      put();
      acknowledged.values().forEach(stored -> read(stored, true));
      reopen();
    }

    private void reopen() {
      try {
        store.close().block(Duration.ofSeconds(10));
      } catch (KvException e) { // what could not be forced before
        assertThat(store.syncs().failedSyncs()).isPositive();
      }
      JournalStore again = open(MemoryEngine.open(medium, new EngineOptions(1 << 20, 0)));
      List<StoredBlock> found = again.recovered();
      assertThat(found.stream().map(StoredBlock::key).toList()).as("blocks found again")
          .containsAll(acknowledged.keySet());
      again.close().block(Duration.ofSeconds(10));
    }

    private void fault() {
      disk.mend();
      if (random.nextBoolean()) {
        Work[] all = Work.values();
        Work[] some = new Work[1 + random.nextInt(3)];
        for (int i = 0; i < some.length; i++) {
          some[i] = all[(random.nextInt(all.length) + i) % all.length];
        }
        disk.fail(Fault.values()[random.nextInt(3)], Arrays.stream(some).distinct().toArray(Work[]::new));
      }
    }

    private void put() {
      BlockKey key = Blocks.key(SPACE, next++);
      try (Block block = Blocks.block(arena, key)) {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        store.put(List.of(block)).subscribe(storedBlocks -> acknowledged.put(key, storedBlocks.getFirst()),
            failure::set);
        assertThat(acknowledged.containsKey(key) || failure.get() instanceof StoreUnavailableException)
            .as("%s", failure.get()).isTrue();
      }
    }

    private void give() {
      if (!acknowledged.isEmpty()) {
        BlockKey key = List.copyOf(acknowledged.keySet()).get(random.nextInt(acknowledged.size()));
        acknowledged.remove(key).close();
      }
    }

    private void read(boolean must) {
      if (!acknowledged.isEmpty()) {
        read(List.copyOf(acknowledged.values()).get(random.nextInt(acknowledged.size())), must);
      }
    }

    private void read(StoredBlock stored, boolean must) {
      AtomicReference<Throwable> failure = new AtomicReference<>();
      for (int attempt = 0; attempt < 2; attempt++) { // one that was given up is told once
        failure.set(null);
        try (BlockDraft draft = Blocks.draft(arena, stored.key())) {
          store.read(List.of(stored), List.of(draft), ALL).subscribe(nothing -> {}, failure::set);
          if (failure.get() == null) {
            try (Block block = draft.seal()) {
              Blocks.assertBytes(block);
            }
            return;
          }
        }
      }
      assertThat(must).as("must be readable: %s", failure.get()).isFalse();
      assertThat(failure.get()).isInstanceOfAny(StoreUnavailableException.class, BlockUnreadableException.class);
    }
  }
}
