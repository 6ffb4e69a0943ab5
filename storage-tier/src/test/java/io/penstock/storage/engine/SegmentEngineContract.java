package io.penstock.storage.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Owned;
import io.penstock.storage.engine.EngineFailure.DirectoryLockedException;
import io.penstock.storage.engine.EngineFailure.EngineClosedException;
import io.penstock.storage.engine.EngineFailure.StorageFullException;
import io.penstock.storage.engine.EngineFailure.UnknownLocationException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Every sentence of [SegmentEngine] as a test. Extend it and open an engine.
@Timeout(60)
public abstract class SegmentEngineContract {
  public static final EngineOptions SMALL = new EngineOptions(1 << 20, 0).withSpareSegments(2);

  private final List<SegmentEngine> opened = new ArrayList<>();
  private final AtomicLong usable = new AtomicLong(Long.MAX_VALUE);

  /// Opens the one medium of this test.
  public abstract SegmentEngine open(EngineOptions options, FreeSpace space);

  /// Makes a copy of the medium as it is at this moment, without telling the engine, the medium of this test.
  public abstract void crash();

  /// Cuts the newest record of the medium, whose engine is closed, `bytes` before its end.
  public abstract void tear(Location newest, int bytes);

  private SegmentEngine open() {
    SegmentEngine engine = open(SMALL, usable::get);
    opened.add(engine);
    return engine;
  }

  @AfterEach
  final void close() {
    opened.forEach(SegmentEngine::close);
  }

  @Test
  void append_thenRead_givesTheSameBytes() {
    SegmentEngine engine = open();
    List<Location> at = append(engine, 0, 100);
    for (int i = 0; i < at.size(); i++) {
      Records.assertRecord(engine, at.get(i), i);
    }
  }

  @Test
  void append_ofParts_isOneRecord() {
    SegmentEngine engine = open();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment whole = Records.ofBytes(7, 1000, arena);
      Location at = engine.append(whole.asSlice(0, 3), whole.asSlice(3, 600), whole.asSlice(603));
      assertThat(at.length()).isEqualTo(1000);
      assertThat(whole.mismatch(Records.read(engine, at, arena))).isEqualTo(-1);
    }
  }

  @Test
  void read_ofAPart_givesThoseBytesOnly() {
    SegmentEngine engine = open();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment whole = Records.ofBytes(1, 4096, arena);
      Location at = engine.append(whole);
      MemorySegment part = arena.allocate(100);
      engine.read(at, 33, part);
      assertThat(whole.asSlice(33, 100).mismatch(part)).isEqualTo(-1);
      MemorySegment next = arena.allocate(3963);
      engine.read(at, 33, part.fill((byte) 0), next);
      assertThat(whole.asSlice(33, 100).mismatch(part)).isEqualTo(-1);
      assertThat(whole.asSlice(133).mismatch(next)).isEqualTo(-1);
      assertThatThrownBy(() -> engine.read(at, 34, part, next)).isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> engine.read(at, 4000, part)).isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> engine.read(at, -1, part)).isInstanceOf(IndexOutOfBoundsException.class);
    }
  }

  @Test
  void append_ofALengthThatIsNone_isRefused() {
    SegmentEngine engine = open();
    try (Arena arena = Arena.ofConfined()) {
      assertThatIllegalArgumentException().isThrownBy(() -> engine.append(arena.allocate(12)))
          .withMessage("record bytes must be a multiple of 8 in (0, 131072] (was 12)");
      assertThatIllegalArgumentException().isThrownBy(() -> engine.append());
      assertThatIllegalArgumentException().isThrownBy(() -> engine.append(arena.allocate(engine.maxRecordBytes() + 8)));
      assertThatIllegalArgumentException().isThrownBy(() -> engine.append(MemorySegment.ofArray(new byte[8])));
      Records.assertRecord(engine, engine.append(Records.of(5, arena)), 5);
    }
  }

  @Test
  void longestRecords_fillSegmentsAndRoll() {
    SegmentEngine engine = open();
    try (Arena arena = Arena.ofConfined()) {
      List<Location> at = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        at.add(engine.append(Records.ofBytes(i, engine.maxRecordBytes(), arena)));
      }
      assertThat(engine.segments().size()).isBetween(3, 4);
      assertThat(engine.activeSegment()).isEqualTo(engine.segments().getLast());
      for (int i = 0; i < 20; i++) {
        assertThat(Records.ofBytes(i, engine.maxRecordBytes(), arena).mismatch(Records.read(engine, at.get(i), arena)))
            .isEqualTo(-1);
      }
    }
  }

  @Test
  void roll_beginsAnotherSegment_andIsNothingTwice() {
    SegmentEngine engine = open();
    assertThat(engine.activeSegment()).isZero();
    Location first = append(engine, 0, 1).getFirst();
    assertThat(engine.activeSegment()).isEqualTo(first.segment());
    engine.roll();
    engine.roll();
    assertThat(engine.activeSegment()).isZero();
    Location second = append(engine, 1, 2).getFirst();
    assertThat(second.segment()).isGreaterThan(first.segment());
    assertThat(engine.segments()).containsExactly(first.segment(), second.segment());
    Records.assertRecord(engine, first, 0);
    Records.assertRecord(engine, second, 1);
  }

  @Test
  void scan_tellsEveryRecordInOrder() {
    SegmentEngine engine = open();
    List<Location> at = append(engine, 0, 200);
    assertThat(scanAll(engine)).isEqualTo(at);
  }

  @Test
  void reopened_afterClose_hasEveryRecord_andAppendsToANewSegment() {
    SegmentEngine engine = open();
    List<Location> at = append(engine, 0, 200);
    engine.close();
    SegmentEngine again = open();
    assertThat(scanAll(again)).isEqualTo(at);
    for (int i = 0; i < at.size(); i++) {
      Records.assertRecord(again, at.get(i), i);
    }
    Location next = append(again, 200, 201).getFirst();
    assertThat(next.segment()).isGreaterThan(at.getLast().segment());
    Records.assertRecord(again, next, 200);
  }

  @Test
  void reopened_afterACrash_hasEveryRecord() {
    List<Location> at = append(open(), 0, 200);
    crash();
    SegmentEngine again = open();
    assertThat(scanAll(again)).isEqualTo(at);
    for (int i = 0; i < at.size(); i++) {
      Records.assertRecord(again, at.get(i), i);
    }
  }

  @Test
  void reopened_overAndOver_losesNothing() {
    List<Location> at = new ArrayList<>();
    for (int run = 0; run < 5; run++) {
      SegmentEngine engine = open();
      at.addAll(append(engine, run * 10L, run * 10L + 10));
      assertThat(scanAll(engine)).isEqualTo(at);
      if (run % 2 == 0) {
        engine.close();
      } else {
        crash();
      }
    }
    SegmentEngine engine = open();
    for (int i = 0; i < at.size(); i++) {
      Records.assertRecord(engine, at.get(i), i);
    }
  }

  @Test
  void reopened_withATornTail_hasEveryRecordBeforeIt() {
    SegmentEngine engine = open();
    List<Location> at = append(engine, 0, 20);
    engine.close();
    tear(at.getLast(), 5);
    SegmentEngine again = open();
    assertThat(scanAll(again)).startsWith(at.subList(0, 19).toArray(Location[]::new));
    assertThat(scanAll(again)).doesNotContain(at.getLast());
    Records.assertRecord(again, append(again, 20, 21).getFirst(), 20);
  }

  @Test
  void unknownLocation_isRefused() {
    SegmentEngine engine = open();
    Location at = append(engine, 0, 1).getFirst();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment into = arena.allocate(8);
      for (Location unknown : List.of(new Location(at.segment() + 1, at.offset(), 8),
          new Location(at.segment(), at.offset() + 8, at.length()),
          new Location(at.segment(), 1L << 40, 8), new Location(at.segment(), Long.MAX_VALUE - 4, 8))) {
        assertThatThrownBy(() -> engine.read(unknown, 0, into)).isInstanceOf(UnknownLocationException.class);
      }
    }
    assertThatThrownBy(() -> engine.pin(at.segment() + 1)).isInstanceOf(UnknownLocationException.class)
        .hasMessage("segment must be one of engine " + engine.name() + " (was " + (at.segment() + 1) + ")");
    assertThatThrownBy(() -> engine.delete(at.segment() + 1)).isInstanceOf(UnknownLocationException.class);
    assertThatThrownBy(() -> engine.window(at.segment() + 1, 2048)).isInstanceOf(UnknownLocationException.class);
  }

  @Test
  void delete_removesOneSegment_alsoAfterReopening() {
    SegmentEngine engine = open();
    Location gone = append(engine, 0, 1).getFirst();
    engine.roll();
    Location kept = append(engine, 1, 2).getFirst();
    assertThatIllegalStateException().isThrownBy(() -> engine.delete(kept.segment()));
    engine.delete(gone.segment());
    assertThat(engine.segments()).containsExactly(kept.segment());
    assertThatThrownBy(() -> Records.assertRecord(engine, gone, 0)).isInstanceOf(UnknownLocationException.class);
    Records.assertRecord(engine, kept, 1);
    engine.roll();
    append(engine, 2, 3);
    engine.close();
    SegmentEngine again = open();
    Records.assertRecord(again, kept, 1);
    assertThatThrownBy(() -> Records.assertRecord(again, gone, 0)).isInstanceOf(UnknownLocationException.class);
    again.segments().forEach(again::delete);
    assertThat(again.segments()).isEmpty();
    Records.assertRecord(again, append(again, 9, 10).getFirst(), 9);
  }

  @Test
  void delete_whileAReaderPins_keepsTheBytesUntilItLeaves() {
    SegmentEngine engine = open();
    Location at = append(engine, 0, 1).getFirst();
    engine.roll();
    append(engine, 1, 2);
    try (Owned pin = engine.pin(at.segment())) {
      engine.delete(at.segment());
      assertThat(engine.segments()).doesNotContain(at.segment());
      assertThatThrownBy(() -> engine.pin(at.segment())).isInstanceOf(UnknownLocationException.class);
      Records.assertRecord(engine, at, 0);
      assertThat(pin.isClosed()).isFalse();
    }
    assertThatThrownBy(() -> Records.assertRecord(engine, at, 0)).isInstanceOf(UnknownLocationException.class);
  }

  @Test
  void delete_raceWithReaders_givesTheBytesOrTheErrorOnly() throws InterruptedException {
    SegmentEngine engine = open();
    AtomicReference<Location> newest = new AtomicReference<>(append(engine, 0, 1).getFirst());
    AtomicReference<Throwable> wrong = new AtomicReference<>();
    AtomicLong stop = new AtomicLong();
    Thread reader = Thread.ofPlatform().start(() -> {
      while (stop.get() == 0 && wrong.get() == null) {
        try {
          Records.assertRecord(engine, newest.get(), 0);
        } catch (UnknownLocationException expected) {
          Thread.onSpinWait();
        } catch (Throwable e) {
          wrong.set(e);
        }
      }
    });
    for (int i = 0; i < 40; i++) {
      Location before = newest.get();
      engine.roll();
      newest.set(append(engine, 0, 1).getFirst());
      engine.delete(before.segment());
    }
    stop.set(1);
    reader.join();
    assertThat(wrong.get()).isNull();
  }

  /// Files of deleted segments may be written anew: what was in them before must never be seen.
  @Test
  void segments_thatTakeTurns_keepTheirRecords() {
    SegmentEngine engine = open();
    Random random = new Random(4_711);
    Map<Location, Long> kept = new LinkedHashMap<>();
    Map<Location, Long> pinned = new LinkedHashMap<>();
    List<Owned> pins = new ArrayList<>();
    long number = 0;
    for (int turn = 0; turn < 60; turn++) {
      int records = 1 + random.nextInt(40);
      for (Location at : append(engine, number, number + records)) {
        kept.put(at, number++);
      }
      engine.roll();
      Location oldest = kept.keySet().iterator().next();
      if (turn % 7 == 3) {
        pins.add(engine.pin(oldest.segment()));
        kept.forEach((at, each) -> {
          if (at.segment() == oldest.segment()) {
            pinned.put(at, each);
          }
        });
      }
      if (turn % 5 > 0) {
        kept.keySet().removeIf(at -> at.segment() == oldest.segment());
        engine.delete(oldest.segment());
      }
      if (turn % 20 == 10) { // in the middle of a segment
        for (Location at : append(engine, number, number + 3)) {
          kept.put(at, number++);
        }
        pinned.forEach((at, each) -> Records.assertRecord(opened.getLast(), at, each));
        pins.forEach(Owned::close);
        pins.clear();
        pinned.clear();
        crash();
        engine = open();
      }
      // What a file held as another segment is told apart by its records: WrittenAnewTest
      assertThat(engine.segments()).as("turn %d", turn)
          .containsExactlyElementsOf(kept.keySet().stream().map(Location::segment).distinct().toList());
      SegmentEngine now = engine;
      kept.forEach((at, each) -> Records.assertRecord(now, at, each));
    }
    pins.forEach(Owned::close);
  }

  @Test
  void fullMedium_refusesTheNextSegment_andTakesItWhenThereIsRoom() {
    SegmentEngine engine = open();
    usable.set(SMALL.segmentBytes() - 1);
    assertThatThrownBy(() -> append(engine, 0, 1)).isInstanceOf(StorageFullException.class)
        .hasMessageContaining("must be >= 1048576 (was 1048575)");
    usable.set(SMALL.segmentBytes());
    List<Location> at = append(engine, 0, 1);
    usable.set(0);
    Location second = append(engine, 1, 2).getFirst(); // there is room in the segment
    engine.roll();
    assertThatThrownBy(() -> append(engine, 2, 3)).isInstanceOf(StorageFullException.class);
    Records.assertRecord(engine, at.getFirst(), 0);
    Records.assertRecord(engine, second, 1);
    usable.set(Long.MAX_VALUE);
    Records.assertRecord(engine, append(engine, 3, 4).getFirst(), 3);
  }

  @Test
  void sync_coversRolledSegments() {
    SegmentEngine engine = open();
    append(engine, 0, 1);
    engine.roll();
    append(engine, 1, 2);
    engine.sync();
    engine.sync();
    assertThat(scanAll(engine)).hasSize(2);
  }

  @Test
  void closed_refusesEverything_andClosesTwice() {
    SegmentEngine engine = open();
    Location at = append(engine, 0, 1).getFirst();
    engine.close();
    engine.close();
    assertThatThrownBy(() -> append(engine, 1, 2)).isInstanceOf(EngineClosedException.class)
        .hasMessage("engine " + engine.name() + " must be open (was closed)");
    assertThatThrownBy(() -> Records.assertRecord(engine, at, 0)).isInstanceOf(EngineClosedException.class);
    assertThatThrownBy(() -> engine.pin(at.segment())).isInstanceOf(EngineClosedException.class);
    assertThatThrownBy(engine::segments).isInstanceOf(EngineClosedException.class);
    assertThatThrownBy(engine::roll).isInstanceOf(EngineClosedException.class);
    assertThatThrownBy(engine::sync).isInstanceOf(EngineClosedException.class);
    assertThatThrownBy(() -> engine.delete(at.segment())).isInstanceOf(EngineClosedException.class);
    assertThatThrownBy(() -> engine.window(at.segment(), 2048)).isInstanceOf(EngineClosedException.class);
  }

  @Test
  void opened_twice_isRefusedWithTheHolder() {
    open();
    assertThatThrownBy(this::open).isInstanceOf(DirectoryLockedException.class)
        .hasMessageContaining(
            "must be opened by one process at a time (was open in process " + ProcessHandle.current().pid() + ")");
  }

  public final List<Location> append(SegmentEngine engine, long from, long to) {
    List<Location> at = new ArrayList<>();
    for (long number = from; number < to; number++) {
      try (Arena arena = Arena.ofConfined()) {
        at.add(engine.append(Records.of(number, arena)));
      }
    }
    return at;
  }

  /// Where records lie, as a walk finds them.
  public static List<Location> scanAll(SegmentEngine engine) {
    List<Location> found = new ArrayList<>();
    engine.segments().forEach(segment -> {
      try (SegmentWindow file = engine.window(segment, 2048)) {
        Records.walk(file, segment, found::add);
      }
    });
    return found;
  }
}
