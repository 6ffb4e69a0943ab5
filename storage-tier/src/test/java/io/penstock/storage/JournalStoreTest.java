package io.penstock.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockDraft;
import io.penstock.storage.disk.SyncRule;
import io.penstock.storage.engine.EngineOptions;
import io.penstock.storage.engine.FreeSpace;
import io.penstock.storage.engine.MemoryDisk;
import io.penstock.storage.engine.MemoryEngine;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.engine.file.ChronicleEngine;
import io.penstock.storage.engine.file.Directories;
import io.penstock.storage.engine.file.PlainEngine;
import io.penstock.storage.index.JournalOpening;
import io.penstock.testkit.Blocks;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.spi.StoredBlock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class JournalStoreTest {
  private abstract static class OnFiles extends JournalStoreContract {
    @TempDir
    Path temporary;
    private @Nullable FileMedium medium;

    private FileMedium medium() {
      medium = medium == null ? new FileMedium(temporary) : medium;
      return medium;
    }

    Path directory() {
      return medium().directory();
    }

    @Override
    void crash() {
      medium().crash();
    }

    /// Flips one bit of the file `suffix` at `offset`.
    void damage(String suffix, long offset) throws IOException {
      try (FileChannel file =
          FileChannel.open(Directories.last(directory(), suffix), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
        ByteBuffer one = ByteBuffer.allocate(1);
        file.read(one, offset);
        file.write(ByteBuffer.wrap(new byte[] {(byte) (one.get(0) ^ 4)}), offset);
      }
    }
  }

  @Nested
  final class OnChronicle extends OnFiles {
    @Override
    SegmentEngine engine(EngineOptions options, FreeSpace space) {
      return ChronicleEngine.open(directory(), options, space);
    }
  }

  @Nested
  final class OnPlainFiles extends OnFiles {
    @Override
    SegmentEngine engine(EngineOptions options, FreeSpace space) {
      return PlainEngine.open(directory(), options, space);
    }

    @Test
    void readOfADamagedPayload_failsNamingTheKey() throws IOException {
      JournalStore store = open();
      List<StoredBlock> stored = put(store, 0, 2);
      damage(".log", at(stored.get(1)) + 104 + 70);
      assertCorrupt(store, stored, 1);
      assertReadable(store, stored.subList(0, 1));
    }

    @Test
    void readOfADamagedHead_failsNamingTheKey() throws IOException {
      JournalStore store = open();
      List<StoredBlock> stored = put(store, 0, 1);
      damage(".log", at(stored.getFirst()) + 80);
      assertCorrupt(store, stored, 0);
    }

    @Test
    void recoveryOfDamageInTheNewestSegment_dropsThatBlockForGood() throws IOException {
      List<StoredBlock> stored = put(open(), 0, 5);
      closeAll();
      damage(".log", at(stored.get(2)) + 104 + 70);
      JournalSample.deleteCheckpoints(directory());
      LoggedLines logged = new LoggedLines(JournalOpening.class, "");
      // Sets aside at once
      JournalStore again = closing(JournalStore.open(SPACE, options(), engine(), new SerialExecutor(), Runnable::run));
      logged.close();
      assertThat(again.recovery().dropped()).isEqualTo(1);
      assertThat(logged.lines()).singleElement().asString()
          .contains(": 1 records are damaged, and count no more");
      assertThat(keys(again.recovered())).hasSize(4).doesNotContain(Blocks.key(SPACE, 2));
      again.flush().block();
      put(again, 10, 11);
      crash();
      assertThat(keys(open().recovered())).hasSize(5).doesNotContain(Blocks.key(SPACE, 2));
    }

    @Test
    void segmentWhoseCheckpointStays_goesAllTheSame() throws IOException {
      SegmentEngine engine = engine();
      JournalStore store = open(options(), engine);
      List<StoredBlock> first = put(store, 0, 2);
      engine.roll();
      put(store, 2, 3);
      Path checkpoint = directory().resolve("checkpoint-0000000001");
      Files.delete(checkpoint);
      Files.createDirectories(checkpoint.resolve("in the way"));
      first.forEach(StoredBlock::close);
      store.flush().block();
      assertThat(engine.segments()).containsExactly(2);
      assertThat(store.disk().failure()).isNull();
    }

    private void assertCorrupt(JournalStore store, List<StoredBlock> stored, int wrong) {
      List<BlockDraft> drafts = new ArrayList<>();
      stored.forEach(block -> drafts.add(Blocks.draft(arena, block.key())));
      assertThatThrownBy(() -> store.read(stored, drafts, ALL).block()).isInstanceOfSatisfying(
          BlockCorruptException.class,
          failure -> assertThat(failure.key()).isEqualTo(stored.get(wrong).key()));
      assertThat(drafts.get(wrong).isComplete()).isFalse();
      drafts.forEach(BlockDraft::close);
    }

    private static long at(StoredBlock block) {
      return ((StoredRecord) block).at().offset();
    }
  }

  @Nested
  final class InMemory extends JournalStoreContract {
    private final List<MemoryDisk> disks = new ArrayList<>(List.of(new MemoryDisk()));

    @Override
    SegmentEngine engine(EngineOptions options, FreeSpace space) {
      return MemoryEngine.open(disks.getLast(), options, space);
    }

    @Override
    void crash() {
      disks.add(disks.getLast().copy());
    }
  }

  @Nested
  final class Forced extends OnFiles {
    @Override
    SegmentEngine engine(EngineOptions options, FreeSpace space) {
      return PlainEngine.open(directory(), options, space);
    }

    @Override
    JournalOptions options() {
      return super.options().withDurability(SyncRule.always());
    }

    @Test
    @Override
    void put_thenRead_givesEveryByteBack() {
      JournalStore store = open();
      assertReadable(store, put(store, 0, 10));
      assertThat(store.durability()).isEqualTo(Durability.FORCED);
    }
  }
}
