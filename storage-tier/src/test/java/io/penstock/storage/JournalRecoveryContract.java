package io.penstock.storage;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.storage.disk.SyncRule;
import io.penstock.storage.engine.EngineFailure.JournalFormatException;
import io.penstock.storage.engine.EngineOptions;
import io.penstock.storage.engine.FreeSpace;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.index.JournalRecovery;
import io.penstock.testkit.Blocks;
import io.penstock.tier.spi.StoredBlock;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// What a [JournalStore] finds again, whatever its engine: all that was acknowledged, and nothing that was closed.
@Timeout(60)
abstract class JournalRecoveryContract extends JournalFixture {
  static final CacheSpace SPACE = Blocks.smallSpace();
  static final GranuleRange ALL = GranuleRange.all(SPACE.layout());

  final AtomicLong usable = new AtomicLong(Long.MAX_VALUE);

  JournalRecoveryContract() {
    super(SPACE);
  }

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
    return closing(JournalStore.open(SPACE, options, engine, threads.appending(), threads.reading()));
  }

  JournalStore open() {
    return open(options(), engine());
  }

  @Test
  void recovered_afterClose_isEveryBlockInOrder_once() {
    put(open(), 0, 300);
    closeAll();
    JournalStore again = open();
    List<StoredBlock> stored = again.recovered();
    assertThat(keys(stored)).isEqualTo(Blocks.keys(SPACE, 0, 300));
    assertThat(again.recovered()).isEmpty();
    assertThat(again.recovery()).isEqualTo(new JournalRecovery(again.recovery().segments(), 300, 0, 0, 0, 0));
    assertReadable(again, stored);
    assertReadable(again, put(again, 300, 310));
  }

  @Test
  void recovered_afterACrash_isEveryBlockThatWasAcknowledged() {
    put(open(), 0, 300);
    crash();
    JournalStore again = open();
    List<StoredBlock> stored = again.recovered();
    assertThat(keys(stored)).isEqualTo(Blocks.keys(SPACE, 0, 300));
    assertReadable(again, stored);
  }

  @Test
  void recovered_ofAKeyPutTwice_isTheNewest() {
    JournalStore store = open();
    put(store, 0, 3);
    put(store, 1, 2);
    crash();
    JournalStore again = open();
    List<StoredBlock> stored = again.recovered();
    assertThat(keys(stored)).containsExactly(Blocks.key(SPACE, 0), Blocks.key(SPACE, 2), Blocks.key(SPACE, 1));
    assertThat(again.recovery().freed()).isEqualTo(1);
    assertReadable(again, stored);
    stored.get(2).close();
    again.flush().block(PATIENCE);
    crash();
    assertThat(keys(open().recovered())).as("an older record of a removed key").doesNotContain(Blocks.key(SPACE, 1));
  }

  @Test
  void closedRest_doesNotComeBack() {
    JournalStore store = open();
    List<StoredBlock> stored = put(store, 0, 10);
    stored.get(4).close();
    stored.get(4).close();
    store.flush().block(PATIENCE);
    crash();
    JournalStore again = open();
    assertThat(keys(again.recovered())).hasSize(9).doesNotContain(Blocks.key(SPACE, 4));
    closeAll();
    assertThat(open().recovered()).hasSize(9);
  }

  @Test
  void blocksClosedAfterTheStore_freeNothing() {
    JournalStore store = open();
    List<StoredBlock> stored = put(store, 0, 10);
    closeAll();
    stored.forEach(StoredBlock::close);
    assertThat(open().recovered()).hasSize(10);
  }

  @Test
  void segmentWhoseRecordsAreAllDead_isDeleted() {
    SegmentEngine engine = engine();
    JournalStore store = open(options(), engine);
    List<StoredBlock> first = put(store, 0, 100);
    engine.roll();
    List<StoredBlock> second = put(store, 100, 101);
    assertThat(engine.segments()).hasSize(2);
    first.subList(1, 100).forEach(StoredBlock::close);
    store.flush().block(PATIENCE);
    assertThat(engine.segments()).hasSize(2);
    assertReadable(store, List.of(first.getFirst()));
    first.getFirst().close();
    store.flush().block(PATIENCE);
    assertThat(engine.segments()).hasSize(1);
    assertReadable(store, second);
    crash();
    assertThat(keys(open().recovered())).isEqualTo(keys(second));
  }

  @Test
  void removal_outlivesItsSegment_asLongAsWhatItRemoves() {
    SegmentEngine engine = engine();
    JournalStore store = open(options(), engine);
    List<StoredBlock> first = put(store, 0, 2);
    engine.roll();
    List<StoredBlock> second = put(store, 2, 3);
    first.getFirst().close(); // its removal lies in the second segment
    store.flush().block(PATIENCE);
    engine.roll();
    put(store, 3, 4);
    second.getFirst().close(); // and that one goes
    store.flush().block(PATIENCE);
    assertThat(engine.segments()).hasSize(2);
    crash();
    assertThat(keys(open().recovered())).containsExactly(Blocks.key(SPACE, 1), Blocks.key(SPACE, 3));
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

  /// Random puts, reads, frees, crashes and reopenings against a map: what is stored, and nothing else, is there.
  @Test
  void anyHistory_keepsExactlyWhatIsStored() {
    for (long seed = 1; seed <= 5; seed++) {
      Random random = new Random(seed);
      Map<BlockKey, StoredBlock> model = new HashMap<>();
      JournalStore store = open();
      for (int step = 0; step < 60; step++) {
        int number = random.nextInt(200);
        switch (random.nextInt(8)) {
          case 0, 1, 2, 3 -> {
            List<StoredBlock> stored = put(store, number, number + 1L + random.nextInt(20));
            stored.forEach(block -> {
              StoredBlock before = model.put(block.key(), block);
              if (before != null) {
                before.close();
              }
            });
          }
          case 4, 5 -> {
            List.copyOf(model.keySet()).stream().filter(key -> random.nextInt(3) == 0)
                .forEach(key -> requireNonNull(model.remove(key)).close());
          }
          case 6 -> {
            if (!model.isEmpty()) {
              assertReadable(store, List.copyOf(model.values()));
            }
          }
          default -> {
            store.flush().block(PATIENCE);
            if (random.nextBoolean()) {
              crash();
            } else {
              store.close().block(PATIENCE);
            }
            store = open();
            List<StoredBlock> found = store.recovered();
            assertThat(keys(found)).as("seed " + seed + " step " + step)
                .containsExactlyInAnyOrderElementsOf(model.keySet());
            found.forEach(block -> model.put(block.key(), block));
          }
        }
      }
      assertReadable(store, model.isEmpty() ? put(store, 0, 1) : List.copyOf(model.values()));
      crash();
      open().recovered().forEach(StoredBlock::close);
      closeAll();
    }
  }
}
