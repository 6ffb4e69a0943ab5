package io.penstock.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockDraft;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.storage.engine.EngineFailure.StorageFullException;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.testkit.Blocks;
import io.penstock.tier.Medium;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.TierClosedException;
import io.penstock.tier.spi.StoredBlock;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.test.StepVerifier;

/// What a [JournalStore] promises, whatever its engine.
@Timeout(60)
abstract class JournalStoreContract extends JournalRecoveryContract {
  @Test
  void put_thenRead_givesEveryByteBack() {
    JournalStore store = open();
    List<StoredBlock> stored = put(store, 0, 300);
    assertThat(keys(stored)).isEqualTo(Blocks.keys(SPACE, 0, 300));
    assertReadable(store, stored);
    assertThat(store.medium()).isEqualTo(Medium.DISK);
    assertThat(store.durability()).isEqualTo(Durability.WRITTEN);
    assertThat(store.name()).isEqualTo("ssd");
  }

  @Test
  void read_ofAPart_statesThatPartOnly() {
    JournalStore store = open();
    StoredBlock block = put(store, 3, 4).getFirst();
    try (BlockDraft draft = Blocks.draft(arena, block.key())) {
      store.read(List.of(block), List.of(draft), GranuleRange.whole(1, 2)).block(PATIENCE);
      assertThat(draft.unverified(ALL)).containsExactly(GranuleRange.whole(0, 1), GranuleRange.whole(3, 1));
      try (var span = draft.span(GranuleRange.whole(1, 2))) {
        Blocks.assertBytes(span);
      }
    }
  }

  @Test
  void read_ofRows_statesThoseRowsOnly() {
    JournalStore store = open();
    StoredBlock block = put(store, 3, 4).getFirst();
    GranuleRange rows = GranuleRange.rows(2, 1, 2);
    try (BlockDraft draft = Blocks.draft(arena, block.key())) {
      store.read(List.of(block), List.of(draft), rows).block(PATIENCE);
      try (var span = draft.span(rows)) {
        Blocks.assertBytes(span);
      }
      assertThat(draft.isComplete()).isFalse();
    }
  }

  @Test
  void putOfNothing_andReadOfNothing_succeed() {
    JournalStore store = open();
    assertThat(store.put(List.of()).block(PATIENCE)).isEmpty();
    store.read(List.of(), List.of(), ALL).block(PATIENCE);
  }

  @Test
  void put_ofACorruptBlock_failsAndLeavesNothing() {
    JournalStore store = open();
    List<Block> blocks = Blocks.keys(SPACE, 0, 3).stream().map(key -> Blocks.block(arena, key)).toList();
    Blocks.corrupt(blocks.get(2), 70);
    StepVerifier.create(store.put(blocks)).expectErrorSatisfies(failure -> {
      assertThat(failure).isInstanceOf(BlockCorruptException.class).hasMessageContaining("at tier ssd");
      assertThat(((BlockCorruptException) failure).key()).isEqualTo(Blocks.key(SPACE, 2));
    }).verify(PATIENCE);
    blocks.forEach(Block::close);
    store.flush().block(PATIENCE);
    crash();
    assertThat(open().recovered()).isEmpty();
  }

  @Test
  void put_onAFullDisk_failsAndTheNextSucceedsWhenThereIsRoom() {
    JournalStore store = open();
    usable.set(0);
    List<Block> blocks = List.of(Blocks.block(arena, Blocks.key(SPACE, 0)));
    StepVerifier.create(store.put(blocks)).expectError(StorageFullException.class).verify(PATIENCE);
    blocks.forEach(Block::close);
    usable.set(Long.MAX_VALUE);
    assertReadable(store, put(store, 0, 1));
  }

  @Test
  void put_whoseSubscriberLeft_freesItsBlocks() {
    ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    SegmentEngine engine = engine();
    JournalStore store = JournalStore.open(SPACE, options(), engine, tasks::add, Runnable::run);
    Block block = Blocks.block(arena, Blocks.key(SPACE, 0));
    store.put(List.of(block)).subscribe().dispose();
    runAll(tasks);
    block.close();
    var closed = store.close().toFuture();
    runAll(tasks);
    assertThat(closed).isCompleted();
    assertThat(open().recovered()).isEmpty();
  }

  @Test
  void putsBeyondTheLine_failAtOnce_andThoseInItAreServed() {
    ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    JournalStore store = JournalStore.open(SPACE, options().withMaxWaitingPuts(2), engine(), tasks::add, Runnable::run);
    List<Block> one = List.of(Blocks.block(arena, Blocks.key(SPACE, 0)));
    var first = store.put(one).toFuture();
    var second = store.put(one).toFuture();
    StepVerifier.create(store.put(one))
        .expectErrorMessage("puts of tier ssd waiting must be <= 2 (was 2, and one more came)").verify(PATIENCE);
    var closed = store.close().toFuture();
    StepVerifier.create(store.put(one)).expectError(TierClosedException.class).verify(PATIENCE);
    assertThat(closed).isNotDone();
    runAll(tasks);
    assertThat(first).isCompleted();
    assertThat(second).isCompleted();
    assertThat(closed).isCompleted();
    one.forEach(Block::close);
  }

  private static void runAll(ArrayDeque<Runnable> tasks) {
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      task.run();
    }
  }

  @Test
  void readsBeyondTheLine_failAtOnce() {
    ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    JournalStore store =
        JournalStore.open(SPACE, options().withMaxWaitingReads(1), engine(), Runnable::run, tasks::add);
    closing(store);
    List<StoredBlock> stored = put(store, 0, 1);
    List<BlockDraft> drafts = List.of(Blocks.draft(arena, stored.getFirst().key()));
    var first = store.read(stored, drafts, ALL).toFuture();
    StepVerifier.create(store.read(stored, drafts, ALL)).expectError(JournalBusyException.class).verify(PATIENCE);
    runAll(tasks);
    assertThat(first).isCompleted();
    drafts.forEach(BlockDraft::close);
  }

  @Test
  void closed_refusesAndClosesTwice() {
    JournalStore store = open();
    List<StoredBlock> stored = put(store, 0, 1);
    store.close().block(PATIENCE);
    store.close().block(PATIENCE);
    StepVerifier.create(store.put(List.of())).expectError(TierClosedException.class).verify(PATIENCE);
    try (BlockDraft draft = Blocks.draft(arena, stored.getFirst().key())) {
      StepVerifier.create(store.read(stored, List.of(draft), ALL)).expectError(TierClosedException.class)
          .verify(PATIENCE);
    }
  }

  @Test
  void wrongArguments_areRefusedAtOnce() {
    JournalStore store = open();
    List<StoredBlock> stored = put(store, 0, 1);
    assertThatIllegalArgumentException().isThrownBy(() -> store.read(stored, List.of(), ALL));
    assertThatThrownBy(() -> store.read(stored, List.of(), GranuleRange.whole(3, 2)))
        .isInstanceOf(IndexOutOfBoundsException.class);
    CacheSpace other = CacheSpace.of("other", SPACE.layout());
    try (Block foreign = Blocks.block(arena, Blocks.key(other, 0))) {
      assertThatIllegalArgumentException().isThrownBy(() -> store.put(List.of(foreign)));
    }
  }

  @Test
  void blocksTooLargeForASegment_areRefusedAtOpening() {
    CacheSpace large = CacheSpace.of("large",
        io.penstock.block.BlockLayout.attention(8, 64, 8, 64, io.penstock.block.Plane.ElementType.BF16));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> JournalStore.open(large, options(), engine(), Runnable::run, Runnable::run))
        .withMessageStartingWith("record bytes of a block must be <= 131072, an eighth of segmentBytes (was 1048");
  }

  @Test
  void manyReaders_besideAWriter_getTheirBytes() throws InterruptedException {
    JournalStore store = open(options().withIoThreads(3), engine());
    List<StoredBlock> stored = put(store, 0, 200);
    CountDownLatch done = new CountDownLatch(3);
    AtomicReference<Throwable> wrong = new AtomicReference<>();
    for (int reader = 0; reader < 3; reader++) {
      int from = reader * 50;
      Thread.ofPlatform().start(() -> {
        try {
          for (int i = 0; i < 20; i++) {
            assertReadable(store, stored.subList(from, from + 100));
          }
        } catch (Throwable e) {
          wrong.set(e);
        } finally {
          done.countDown();
        }
      });
    }
    for (int i = 0; i < 20; i++) {
      put(store, 1000 + i * 20L, 1020 + i * 20L).forEach(StoredBlock::close);
    }
    done.await();
    assertThat(wrong.get()).isNull();
  }
}
