package io.penstock.storage;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.storage.check.CheckProgress;
import io.penstock.storage.check.JournalCheck;
import io.penstock.storage.check.QuarantineBound;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.engine.StorageFailedException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// What an opening found damaged goes to the quarantine, whatever the disk says to that.
final class SettingAsideTest extends OpeningFixture {
  @Test
  void endedBeforeItWasTakenOut_isRecognized() throws IOException {
    written(EngineKind.PLAIN);
    flip(3, HEAD + 70);
    byte[] damaged = bytes(3);
    open();
    close();
    write(3, 0, damaged); // as if the word over it had not got to the medium
    open();
    assertThat(store.recovery().dropped()).isEqualTo(1);
    assertThat(index()).hasSize(1);
    try (Stream<Path> files = Files.list(temporary.resolve("quarantine"))) {
      assertThat(files).as("one copy, and the index").hasSize(2);
    }
    close();
    assertThat(JournalCheck.run(temporary, CheckProgress.none()).clean()).isTrue();
  }

  @Test
  void fullQuarantine_keepsWhatItMay_countsTheRest_andTakesThemWhenThereIsRoom() throws IOException {
    written(EngineKind.PLAIN);
    for (int record = 0; record < 5; record++) {
      flip(record, 25);
    }
    bound = new QuarantineBound(1 << 20, 2);
    open();
    assertThat(index()).hasSize(2);
    assertThat(store.diskStat().damaged()).isEqualTo(5);
    assertThat(store.diskStat().unkept()).isEqualTo(3);
    assertThat(store.diskStat().problems()).singleElement().asString().startsWith("opening: could not set damage aside")
        .contains("within 2 records");
    assertThat(store.recovered()).hasSize(BLOCKS - 5);
    close();

    JournalSample.delete(temporary.resolve("quarantine"));
    bound = QuarantineBound.defaults();
    open();
    assertThat(store.diskStat().damaged()).isEqualTo(3);
    assertThat(store.diskStat().unkept()).isZero();
    assertThat(store.diskStat().problems()).isEmpty();
    assertThat(index()).hasSize(3);
  }

  @Test
  void diskThatTakesNothing_keepsNoOneFromOpening() throws IOException {
    written(EngineKind.PLAIN);
    flip(3, HEAD + 70);
    flip(4, HEAD + 70);
    Files.writeString(temporary.resolve("quarantine"), "in the way of the folder");
    open();
    assertThat(store.recovered()).hasSize(BLOCKS - 2);
    assertThat(store.diskStat().damaged()).isEqualTo(2);
    assertThat(store.diskStat().unkept()).isEqualTo(2);
    assertThat(store.diskStat().problems()).singleElement().asString()
        .startsWith("opening: could not set damage aside");
    close();

    Files.delete(temporary.resolve("quarantine"));
    open(new FileHome(engine()) {
      @Override
      public void patch(Location record, long from, MemorySegment bytes) {
        throw new StorageFailedException("write over", new IOException("Read-only file system"));
      }
    }, Runnable::run);
    assertThat(store.recovered()).hasSize(BLOCKS - 2);
    assertThat(index()).hasSize(2);
    assertThat(store.diskStat().problems()).singleElement().asString().startsWith("opening: could not write over");
  }

  @Test
  void memoryThatIsExhausted_costsOneRecord_andHoldsNoSegment() throws IOException {
    written(EngineKind.PLAIN);
    for (int record = 0; record < BLOCKS; record++) {
      flip(record, HEAD + 70);
    }
    ArrayDeque<Runnable> reading = new ArrayDeque<>();
    open(new FileHome(engine()) {
      @Override
      public void readOnce(Location record, long from, MemorySegment into) {
        if (record.equals(records.get(3))) {
          throw new OutOfMemoryError("no more");
        }
        super.readOnce(record, from, into);
      }
    }, reading::add);
    int exhausted = 0;
    while (!reading.isEmpty()) {
      try {
        reading.poll().run();
      } catch (OutOfMemoryError e) {
        exhausted++;
      }
    }
    assertThat(exhausted).isEqualTo(1);
    assertThat(index()).hasSize(BLOCKS - 1);
  }

  @Test
  void close_endsWhenTheRecordThatIsBeingSetAsideIs_andNotBefore() throws IOException {
    written(EngineKind.PLAIN);
    flip(3, HEAD + 70);
    flip(4, HEAD + 70);
    ArrayDeque<Runnable> reading = new ArrayDeque<>();
    List<Boolean> ended = new ArrayList<>();
    open(new FileHome(engine()) {
      @Override
      public void patch(Location record, long from, MemorySegment bytes) {
        store.close().subscribe(nothing -> {}, failure -> {}, () -> ended.add(true));
        assertThat(ended).as("while its segment is written").isEmpty();
        super.patch(record, from, bytes);
      }
    }, reading::add);
    requireNonNull(reading.poll()).run();
    assertThat(ended).hasSize(1);
    assertThat(store.diskStat().problems()).isEmpty();
    assertThat(reading).isEmpty();
    assertThat(index()).hasSize(1);
  }

  /// An engine with its own place for small files.
  private static class FileHome extends WrappedEngine {
    private final Path home;

    FileHome(SegmentEngine engine) {
      super(engine);
      this.home = requireNonNull(engine.directory());
    }

    @Override
    public Path directory() {
      return home;
    }
  }

  @Test
  void setAside_isNotWaitedFor_butItsSegmentStays_andACloseLeavesTheRestToTheNextOpening() throws IOException {
    written(EngineKind.PLAIN);
    for (int record = 0; record < BLOCKS; record++) {
      flip(record, HEAD + 70); // nothing counts: the segment goes
    }
    ArrayDeque<Runnable> reading = new ArrayDeque<>();
    open(engine(), reading::add);
    assertThat(store.recovery().damaged()).isEqualTo(BLOCKS);
    assertThat(store.recovered()).isEmpty();
    assertThat(temporary.resolve("quarantine")).doesNotExist();
    for (int record = 0; record < 5; record++) {
      requireNonNull(reading.poll()).run();
    }
    assertThat(reading).as("one at a time").hasSize(1);
    assertThat(index()).hasSize(5);
    assertThat(temporary.resolve("segment-0000000001.log")).as("nothing in it counts").doesNotExist();
    assertThat(store.diskStat().problems()).isEmpty();
    close();
    requireNonNull(reading.poll()).run();
    assertThat(reading).isEmpty();
    assertThat(index()).hasSize(5);
  }
}
