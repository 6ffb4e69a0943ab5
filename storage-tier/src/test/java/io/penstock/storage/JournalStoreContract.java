package io.penstock.storage;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.SlabArena;
import io.penstock.storage.engine.EngineOptions;
import io.penstock.storage.engine.FreeSpace;
import io.penstock.storage.engine.JournalFormatException;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.engine.StorageFullException;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.Durability;
import io.penstock.tier.Medium;
import io.penstock.tier.Rest;
import io.penstock.tier.TierClosedException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.test.StepVerifier;

/// What a [JournalStore] promises, whatever its engine.
@Timeout(60)
abstract class JournalStoreContract {
  static final CacheSpace SPACE = Blocks.smallSpace();
  static final GranuleRange ALL = GranuleRange.all(SPACE.layout());
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  final SlabArena arena = leaks.watch(new SlabArena("host", SPACE.layout(), 4096, 4));
  final AtomicLong usable = new AtomicLong(Long.MAX_VALUE);
  private final List<JournalStore> opened = new ArrayList<>();

  /// Opens the one medium of this test.
  abstract SegmentEngine engine(EngineOptions options, FreeSpace space);

  /// Makes a copy of the medium as it is now the medium of this test.
  abstract void crash();

  JournalOptions options() {
    return JournalOptions.defaults(Path.of("unused")).withSegmentBytes(1 << 20).withDurability(SyncRule.none())
        .withReclaim(ReclaimOptions.defaults().withMostSpread(1e9)); // these tests say which segments are there
  }

  SegmentEngine engine() {
    return engine(new EngineOptions(1 << 20, 0), usable::get);
  }

  final JournalStore open(JournalOptions options, SegmentEngine engine) {
    JournalThreads threads = JournalThreads.own(options);
    JournalStore store = JournalStore.open(SPACE, options, engine, threads.appending(), threads.reading());
    opened.add(store);
    return store;
  }

  JournalStore open() {
    return open(options(), engine());
  }

  @AfterEach
  final void closeAll() {
    opened.forEach(store -> store.close().block(PATIENCE));
  }

  final List<Rest> put(JournalStore store, long from, long to) {
    List<Block> blocks = Blocks.keys(SPACE, from, to).stream().map(key -> Blocks.block(arena, key)).toList();
    try {
      return requireNonNull(store.put(blocks).block(PATIENCE));
    } finally {
      blocks.forEach(Block::close);
    }
  }

  final void assertReadable(JournalStore store, List<? extends Rest> rests) {
    List<BlockDraft> drafts = requireNonNull(arena.tryClaim(rests.stream().map(Rest::key).toList()));
    store.read(rests, drafts, ALL).block(PATIENCE);
    for (BlockDraft draft : drafts) {
      try (Block block = draft.seal()) {
        Blocks.assertBytes(block);
      }
    }
  }

  static List<BlockKey> keys(List<? extends Rest> rests) {
    return rests.stream().map(Rest::key).toList();
  }

  @Test
  void put_thenRead_givesEveryByteBack() {
    JournalStore store = open();
    List<Rest> rests = put(store, 0, 300);
    assertThat(keys(rests)).isEqualTo(Blocks.keys(SPACE, 0, 300));
    assertReadable(store, rests);
    assertThat(store.medium()).isEqualTo(Medium.DISK);
    assertThat(store.durability()).isEqualTo(Durability.WRITTEN);
    assertThat(store.name()).isEqualTo("ssd");
  }

  @Test
  void read_ofAPart_statesThatPartOnly() {
    JournalStore store = open();
    Rest rest = put(store, 3, 4).getFirst();
    try (BlockDraft draft = Blocks.draft(arena, rest.key())) {
      store.read(List.of(rest), List.of(draft), GranuleRange.whole(1, 2)).block(PATIENCE);
      assertThat(draft.unstated(ALL)).containsExactly(GranuleRange.whole(0, 1), GranuleRange.whole(3, 1));
      try (var span = draft.span(GranuleRange.whole(1, 2))) {
        Blocks.assertBytes(span);
      }
    }
  }

  @Test
  void read_ofRows_statesThoseRowsOnly() {
    JournalStore store = open();
    Rest rest = put(store, 3, 4).getFirst();
    GranuleRange rows = GranuleRange.rows(2, 1, 2);
    try (BlockDraft draft = Blocks.draft(arena, rest.key())) {
      store.read(List.of(rest), List.of(draft), rows).block(PATIENCE);
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
  void recovered_afterClose_isEveryBlockInOrder_once() {
    put(open(), 0, 300);
    closeAll();
    JournalStore again = open();
    List<Rest> rests = again.recovered();
    assertThat(keys(rests)).isEqualTo(Blocks.keys(SPACE, 0, 300));
    assertThat(again.recovered()).isEmpty();
    assertThat(again.recovery()).isEqualTo(new JournalRecovery(again.recovery().segments(), 300, 0, 0, 0));
    assertReadable(again, rests);
    assertReadable(again, put(again, 300, 310));
  }

  @Test
  void recovered_afterACrash_isEveryBlockThatWasAcknowledged() {
    put(open(), 0, 300);
    crash();
    JournalStore again = open();
    List<Rest> rests = again.recovered();
    assertThat(keys(rests)).isEqualTo(Blocks.keys(SPACE, 0, 300));
    assertReadable(again, rests);
  }

  @Test
  void recovered_ofAKeyPutTwice_isTheNewest() {
    JournalStore store = open();
    put(store, 0, 3);
    put(store, 1, 2);
    crash();
    JournalStore again = open();
    List<Rest> rests = again.recovered();
    assertThat(keys(rests)).containsExactly(Blocks.key(SPACE, 0), Blocks.key(SPACE, 2), Blocks.key(SPACE, 1));
    assertThat(again.recovery().freed()).isEqualTo(1);
    assertReadable(again, rests);
    rests.get(2).close();
    again.settled().block(PATIENCE);
    crash();
    assertThat(keys(open().recovered())).as("an older record of a removed key").doesNotContain(Blocks.key(SPACE, 1));
  }

  @Test
  void closedRest_doesNotComeBack() {
    JournalStore store = open();
    List<Rest> rests = put(store, 0, 10);
    rests.get(4).close();
    rests.get(4).close();
    store.settled().block(PATIENCE);
    crash();
    JournalStore again = open();
    assertThat(keys(again.recovered())).hasSize(9).doesNotContain(Blocks.key(SPACE, 4));
    closeAll();
    assertThat(open().recovered()).hasSize(9);
  }

  @Test
  void restsClosedAfterTheStore_freeNothing() {
    JournalStore store = open();
    List<Rest> rests = put(store, 0, 10);
    closeAll();
    rests.forEach(Rest::close);
    assertThat(open().recovered()).hasSize(10);
  }

  @Test
  void segmentWhoseRecordsAreAllDead_isDeleted() {
    SegmentEngine engine = engine();
    JournalStore store = open(options(), engine);
    List<Rest> first = put(store, 0, 100);
    engine.roll();
    List<Rest> second = put(store, 100, 101);
    assertThat(engine.segments()).hasSize(2);
    first.subList(1, 100).forEach(Rest::close);
    store.settled().block(PATIENCE);
    assertThat(engine.segments()).hasSize(2);
    assertReadable(store, List.of(first.getFirst()));
    first.getFirst().close();
    store.settled().block(PATIENCE);
    assertThat(engine.segments()).hasSize(1);
    assertReadable(store, second);
    crash();
    assertThat(keys(open().recovered())).isEqualTo(keys(second));
  }

  @Test
  void removal_outlivesItsSegment_asLongAsWhatItRemoves() {
    SegmentEngine engine = engine();
    JournalStore store = open(options(), engine);
    List<Rest> first = put(store, 0, 2);
    engine.roll();
    List<Rest> second = put(store, 2, 3);
    first.getFirst().close(); // its removal lies in the second segment
    store.settled().block(PATIENCE);
    engine.roll();
    put(store, 3, 4);
    second.getFirst().close(); // and that one goes
    store.settled().block(PATIENCE);
    assertThat(engine.segments()).hasSize(2);
    crash();
    assertThat(keys(open().recovered())).containsExactly(Blocks.key(SPACE, 1), Blocks.key(SPACE, 3));
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
    store.settled().block(PATIENCE);
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
  void put_whoseSubscriberLeft_freesItsRests() {
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
    StepVerifier.create(store.put(one)).expectErrorMessage("puts of tier ssd waiting must be <= 2 (was 2, and one more came)").verify(PATIENCE);
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
    JournalStore store = JournalStore.open(SPACE, options().withMaxWaitingReads(1), engine(), Runnable::run, tasks::add);
    opened.add(store);
    List<Rest> rests = put(store, 0, 1);
    List<BlockDraft> drafts = List.of(Blocks.draft(arena, rests.getFirst().key()));
    var first = store.read(rests, drafts, ALL).toFuture();
    StepVerifier.create(store.read(rests, drafts, ALL)).expectError(JournalBusyException.class).verify(PATIENCE);
    runAll(tasks);
    assertThat(first).isCompleted();
    drafts.forEach(BlockDraft::close);
  }

  @Test
  void closed_refusesAndClosesTwice() {
    JournalStore store = open();
    List<Rest> rests = put(store, 0, 1);
    store.close().block(PATIENCE);
    store.close().block(PATIENCE);
    StepVerifier.create(store.put(List.of())).expectError(TierClosedException.class).verify(PATIENCE);
    try (BlockDraft draft = Blocks.draft(arena, rests.getFirst().key())) {
      StepVerifier.create(store.read(rests, List.of(draft), ALL)).expectError(TierClosedException.class).verify(PATIENCE);
    }
  }

  @Test
  void wrongArguments_areRefusedAtOnce() {
    JournalStore store = open();
    List<Rest> rests = put(store, 0, 1);
    assertThatIllegalArgumentException().isThrownBy(() -> store.read(rests, List.of(), ALL));
    assertThatThrownBy(() -> store.read(rests, List.of(), GranuleRange.whole(3, 2))).isInstanceOf(IndexOutOfBoundsException.class);
    CacheSpace other = CacheSpace.of("other", SPACE.layout());
    try (Block foreign = Blocks.block(arena, Blocks.key(other, 0))) {
      assertThatIllegalArgumentException().isThrownBy(() -> store.put(List.of(foreign)));
    }
  }

  @Test
  void journalOfAnotherSpace_isRefused() {
    put(open(), 0, 1);
    closeAll();
    CacheSpace other = CacheSpace.of("other", SPACE.layout());
    assertThatThrownBy(() -> JournalStore.open(other, options(), engine(), Runnable::run, Runnable::run))
        .isInstanceOf(JournalFormatException.class)
        .hasMessageContaining("must be " + other.id() + " of other (was " + SPACE.id() + ")");
  }

  @Test
  void blocksTooLargeForASegment_areRefusedAtOpening() {
    CacheSpace large = CacheSpace.of("large", io.penstock.block.BlockLayout.attention(8, 64, 8, 64, io.penstock.block.ElementType.BF16));
    assertThatIllegalArgumentException().isThrownBy(() -> JournalStore.open(large, options(), engine(), Runnable::run, Runnable::run))
        .withMessageStartingWith("record bytes of a block must be <= 131072, an eighth of segmentBytes (was 1048");
  }

  /// Random puts, reads, frees, crashes and reopenings against a map: what is at rest, and nothing else, is there.
  @Test
  void anyHistory_keepsExactlyWhatIsAtRest() {
    for (long seed = 1; seed <= 5; seed++) {
      Random random = new Random(seed);
      Map<BlockKey, Rest> model = new HashMap<>();
      JournalStore store = open();
      for (int step = 0; step < 60; step++) {
        int number = random.nextInt(200);
        switch (random.nextInt(8)) {
          case 0, 1, 2, 3 -> {
            List<Rest> rests = put(store, number, number + 1L + random.nextInt(20));
            rests.forEach(rest -> {
              Rest before = model.put(rest.key(), rest);
              if (before != null) {
                before.close();
              }
            });
          }
          case 4, 5 -> {
            List.copyOf(model.keySet()).stream().filter(key -> random.nextInt(3) == 0).forEach(key -> requireNonNull(model.remove(key)).close());
          }
          case 6 -> {
            if (!model.isEmpty()) {
              assertReadable(store, List.copyOf(model.values()));
            }
          }
          default -> {
            store.settled().block(PATIENCE);
            if (random.nextBoolean()) {
              crash();
            } else {
              store.close().block(PATIENCE);
            }
            store = open();
            List<Rest> found = store.recovered();
            assertThat(keys(found)).as("seed " + seed + " step " + step).containsExactlyInAnyOrderElementsOf(model.keySet());
            found.forEach(rest -> model.put(rest.key(), rest));
          }
        }
      }
      assertReadable(store, model.isEmpty() ? put(store, 0, 1) : List.copyOf(model.values()));
      crash();
      open().recovered().forEach(Rest::close);
      closeAll();
    }
  }

  @Test
  void manyReaders_besideAWriter_getTheirBytes() throws InterruptedException {
    JournalStore store = open(options().withIoThreads(3), engine());
    List<Rest> rests = put(store, 0, 200);
    CountDownLatch done = new CountDownLatch(3);
    AtomicReference<Throwable> wrong = new AtomicReference<>();
    for (int reader = 0; reader < 3; reader++) {
      int from = reader * 50;
      Thread.ofPlatform().start(() -> {
        try {
          for (int i = 0; i < 20; i++) {
            assertReadable(store, rests.subList(from, from + 100));
          }
        } catch (Throwable e) {
          wrong.set(e);
        } finally {
          done.countDown();
        }
      });
    }
    for (int i = 0; i < 20; i++) {
      put(store, 1000 + i * 20L, 1020 + i * 20L).forEach(Rest::close);
    }
    done.await();
    assertThat(wrong.get()).isNull();
  }
}
