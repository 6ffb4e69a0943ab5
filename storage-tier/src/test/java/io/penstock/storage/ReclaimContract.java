package io.penstock.storage;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.storage.disk.SyncRule;
import io.penstock.storage.engine.EngineFailure.StorageFullException;
import io.penstock.storage.engine.EngineOptions;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.record.RecordFormat;
import io.penstock.tier.spi.StoredBlock;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.test.StepVerifier;
import reactor.test.scheduler.VirtualTimeScheduler;

/// What moving live blocks together promises, whatever the engine.
@Timeout(60)
abstract class ReclaimContract extends JournalFixture {
  // 8 KiB
  static final CacheSpace SPACE = CacheSpace.of("reclaim", BlockLayout.attention(2, 16, 2, 32, ElementType.BF16));
  static final int RECORD = RecordFormat.recordBytes(SPACE.layout());
  static final int SEGMENT = 1 << 20;

  final VirtualTimeScheduler time = VirtualTimeScheduler.create();

  ReclaimContract() {
    super(SPACE);
  }

  /// Opens the one medium of this test.
  abstract SegmentEngine engine(EngineOptions options);

  /// Makes a copy of the medium as it is now the medium of this test.
  abstract void crash();

  static JournalOptions options(ReclaimOptions reclaim) {
    return JournalOptions.defaults(Path.of("unused")).withSegmentBytes(SEGMENT).withDurability(SyncRule.none())
        .withReclaim(reclaim);
  }

  static ReclaimOptions spread(double most) {
    return ReclaimOptions.defaults().withMostSpread(most).withBytesPerSecond(Long.MAX_VALUE);
  }

  JournalStore open(JournalOptions options) {
    return closing(JournalStore.open(SPACE, options, engine(new EngineOptions(SEGMENT, 0)), new SerialExecutor(),
        Runnable::run, time));
  }

  /// Puts blocks `from` to `to` in batches of 500.
  final List<StoredBlock> fill(JournalStore store, long from, long to) {
    List<StoredBlock> stored = new ArrayList<>();
    for (long at = from; at < to; at += 500) {
      stored.addAll(put(store, at, Math.min(to, at + 500)));
    }
    return stored;
  }

  private static long liveBytes(List<?> live) {
    return (long) live.size() * RECORD;
  }

  @Test
  void randomRemovals_leaveLittleMoreThanWhatIsLive() {
    randomRemovals_leaveLittleMoreThanWhatIsLive(1);
  }

  @Tag("proof")
  @Test
  void randomRemovals_leaveLittleMoreThanWhatIsLive_atLength() {
    randomRemovals_leaveLittleMoreThanWhatIsLive(2);
  }

  private void randomRemovals_leaveLittleMoreThanWhatIsLive(int seeds) {
    for (long seed = 1; seed <= seeds; seed++) {
      Random random = new Random(seed);
      JournalStore store = open(options(spread(1.25)));
      List<StoredBlock> live = fill(store, 0, 30L * SEGMENT / RECORD);
      long next = live.size();
      for (int round = 0; round < 10 * seeds; round++) {
        int gone = live.size() / 10;
        for (int i = 0; i < gone; i++) {
          int which = random.nextInt(live.size());
          live.get(which).close();
          live.set(which, live.getLast());
          live.removeLast();
        }
        assertThat(store.disk().heldBytes()).as("seed " + seed + " round " + round)
            .isLessThanOrEqualTo((long) (1.35 * liveBytes(live)));
        live.addAll(fill(store, next, next + gone));
        next += gone;
        assertThat(store.disk().heldBytes()).as("seed " + seed + " round " + round)
            .isLessThanOrEqualTo((long) (1.35 * liveBytes(live)));
      }
      assertThat(store.disk().liveBytes()).isEqualTo(liveBytes(live));
      DiskUse disk = store.disk();
      assertThat(1 + (double) disk.movedBytes() / disk.userBytes()).as("seed " + seed).isBetween(1.2, 5.0);
      assertReadable(store, live);
      store.flush().block(PATIENCE);
      crash();
      JournalStore again = open(options(spread(1.25)));
      List<StoredBlock> found = again.recovered();
      assertThat(keys(found)).containsExactlyInAnyOrderElementsOf(keys(live));
      assertReadable(again, found);
      live.forEach(StoredBlock::close);
      found.forEach(StoredBlock::close);
      again.flush().block(PATIENCE);
      assertThat(again.disk().segments()).isLessThanOrEqualTo(1);
      again.close().block(PATIENCE);
    }
  }

  @Test
  void oneLiveBlockASegment_doesNotKeepIt() {
    JournalStore store = open(options(spread(1.5)));
    List<StoredBlock> all = fill(store, 0, 10L * SEGMENT / RECORD);
    List<StoredBlock> live = new ArrayList<>();
    for (int i = 0; i < all.size(); i++) {
      if (i % 60 == 0) {
        live.add(all.get(i));
      } else {
        all.get(i).close();
      }
    }
    assertThat(store.disk().segments()).isLessThanOrEqualTo(3);
    assertReadable(store, live);
  }

  @Test
  void capacity_isKept_byMovingBlocksFirst_andByRefusingWhenAllAreLive() {
    capacity_isKept_byMovingBlocksFirst_andByRefusingWhenAllAreLive(15);
  }

  @Tag("proof")
  @Test
  void capacity_isKept_byMovingBlocksFirst_andByRefusingWhenAllAreLive_atLength() {
    capacity_isKept_byMovingBlocksFirst_andByRefusingWhenAllAreLive(60);
  }

  private void capacity_isKept_byMovingBlocksFirst_andByRefusingWhenAllAreLive(int rounds) {
    long capacity = 16L * SEGMENT;
    JournalStore store = open(options(spread(1000).withCapacityBytes(capacity)));
    Random random = new Random(5);
    List<StoredBlock> live = fill(store, 0, 12L * SEGMENT / RECORD); // three quarters
    long next = live.size();
    for (int round = 0; round < rounds; round++) {
      for (int i = 0; i < 100; i++) {
        live.remove(random.nextInt(live.size())).close();
      }
      live.addAll(put(store, next, next + 100));
      next += 100;
      assertThat(store.disk().heldBytes()).as("round " + round).isLessThanOrEqualTo(capacity);
    }
    assertReadable(store, live);
    long before = next;
    StepVerifier
        .create(reactor.core.publisher.Mono.fromRunnable(() -> fill(store, before, before + 6L * SEGMENT / RECORD)))
        .expectError(StorageFullException.class).verify(PATIENCE);
    assertThat(store.disk().heldBytes()).isLessThanOrEqualTo(capacity);
    live.subList(0, 600).forEach(StoredBlock::close);
    assertReadable(store, put(store, 1_000_000, 1_000_100));
    assertReadable(store, live.subList(600, live.size()));
  }

  @Test
  void movedBytes_keepBelowTheRate() {
    JournalStore store = open(options(spread(1.2).withBytesPerSecond(SEGMENT)));
    List<StoredBlock> all = fill(store, 0, 20L * SEGMENT / RECORD);
    for (int i = 0; i < all.size(); i += 2) {
      all.get(i).close();
    }
    long before = store.disk().movedBytes();
    assertThat(before).isLessThanOrEqualTo(SEGMENT); // the first step
    for (int second = 1; second <= 4; second++) {
      time.advanceTimeBy(Duration.ofSeconds(1));
      assertThat(store.disk().movedBytes()).as("second " + second).isBetween(before + (second - 1L) * SEGMENT,
          before + (second + 1L) * SEGMENT);
    }
    time.advanceTimeBy(Duration.ofMinutes(1));
    assertThat(store.disk().heldBytes()).isLessThanOrEqualTo(13L * SEGMENT + SEGMENT);
  }

  @Test
  void blocksOnTheMove_freedBeforeTheirOldSegmentMayGo_doNotComeBack() {
    JournalOptions options = options(spread(1.2)).withDurability(SyncRule.interval(Duration.ofSeconds(1), 1L << 30));
    JournalStore store = open(options);
    List<StoredBlock> all = fill(store, 0, 10L * SEGMENT / RECORD);
    List<StoredBlock> live = new ArrayList<>();
    for (int i = 0; i < all.size(); i++) {
      if (i % 2 == 0) {
        live.add(all.get(i));
      } else {
        all.get(i).close();
      }
    }
    assertThat(store.disk().movedBytes()).isPositive();
    int waiting = store.disk().segments();
    List<StoredBlock> gone = live.subList(0, live.size() / 2);
    List<StoredBlock> kept = live.subList(live.size() / 2, live.size());
    gone.forEach(StoredBlock::close);
    store.flush().block(PATIENCE);
    crash();
    List<StoredBlock> found = open(options).recovered();
    assertThat(keys(found)).containsExactlyInAnyOrderElementsOf(keys(kept));
    time.advanceTimeBy(Duration.ofSeconds(2));
    assertThat(store.disk().segments()).as("after the sync").isLessThan(waiting);
    assertReadable(store, kept);
  }

  /// Random puts, frees, crashes and reopenings against a map, while blocks are moved as much as can be.
  @Test
  void anyHistory_keepsExactlyWhatIsStored() {
    anyHistory_keepsExactlyWhatIsStored(2);
  }

  @Tag("proof")
  @Test
  void anyHistory_keepsExactlyWhatIsStored_atLength() {
    anyHistory_keepsExactlyWhatIsStored(4);
  }

  private void anyHistory_keepsExactlyWhatIsStored(int seeds) {
    for (long seed = 1; seed <= seeds; seed++) {
      Random random = new Random(seed);
      Map<BlockKey, StoredBlock> model = new HashMap<>();
      JournalOptions options = options(spread(1.1))
          .withDurability(seed % 2 == 0 ? SyncRule.none() : SyncRule.interval(Duration.ofSeconds(1), 1L << 30));
      JournalStore store = open(options);
      for (int step = 0; step < 10 * seeds; step++) {
        switch (random.nextInt(7)) {
          case 0, 1, 2 -> {
            long from = random.nextInt(4000);
            put(store, from, from + 200 + random.nextInt(300)).forEach(block -> {
              StoredBlock before = model.put(block.key(), block);
              if (before != null) {
                before.close();
              }
            });
          }
          case 3, 4 -> List.copyOf(model.keySet()).stream().sorted(java.util.Comparator.comparing(BlockKey::toString))
              .filter(key -> random.nextInt(3) == 0).forEach(key -> requireNonNull(model.remove(key)).close());
          case 5 -> time.advanceTimeBy(Duration.ofMillis(700));
          default -> {
            store.flush().block(PATIENCE);
            if (random.nextBoolean()) {
              crash();
            } else {
              store.close().block(PATIENCE);
            }
            store = open(options);
            List<StoredBlock> found = store.recovered();
            assertThat(keys(found)).as("seed " + seed + " step " + step)
                .containsExactlyInAnyOrderElementsOf(model.keySet());
            found.forEach(block -> model.put(block.key(), block));
          }
        }
      }
      assertReadable(store, List.copyOf(model.values()));
      crash();
      open(options).recovered().forEach(StoredBlock::close);
      closeAll();
    }
  }

  @Test
  void readers_whileBlocksMove_getTheirBytes() throws InterruptedException {
    JournalOptions options = options(spread(1.1));
    JournalThreads threads = JournalThreads.own(options.withIoThreads(2));
    JournalStore store = closing(JournalStore.open(SPACE, options, engine(new EngineOptions(SEGMENT, 0)),
        threads.appending(), threads.reading()));
    List<StoredBlock> kept = new ArrayList<>();
    List<StoredBlock> all = fill(store, 0, 4L * SEGMENT / RECORD);
    for (int i = 0; i < all.size(); i++) {
      if (i % 8 == 0) {
        kept.add(all.get(i));
      } else {
        all.get(i).close();
      }
    }
    AtomicReference<Throwable> wrong = new AtomicReference<>();
    CountDownLatch done = new CountDownLatch(2);
    for (int reader = 0; reader < 2; reader++) {
      Thread.ofPlatform().start(() -> {
        try {
          for (int i = 0; i < 30; i++) {
            assertReadable(store, kept);
          }
        } catch (Throwable e) {
          wrong.set(e);
        } finally {
          done.countDown();
        }
      });
    }
    for (int i = 0; i < 30; i++) {
      put(store, 100_000 + i * 300L, 100_300 + i * 300L).forEach(StoredBlock::close);
    }
    done.await();
    assertThat(wrong.get()).isNull();
    assertThat(store.disk().movedBytes()).isPositive();
  }
}
