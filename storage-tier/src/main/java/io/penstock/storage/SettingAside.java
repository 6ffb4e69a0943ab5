package io.penstock.storage;

import io.penstock.block.Owned;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.engine.StorageFailedException;
import io.penstock.storage.engine.UnknownLocationException;
import io.penstock.storage.record.RecordFormat;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// What an opening found damaged goes to the quarantine and is taken out of the journal, as a repair would do it: a
/// record at a time, on a thread that reads, each behind those who wait there. Its segments stay until then.
///
/// What could not be kept stays where it is, and the next opening finds it again; so does one that was kept and not
/// taken out, which is not kept twice.
final class SettingAside {
  private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final SegmentEngine engine;
  private final LostRecords lost;
  private final Executor reading;
  private final Iterator<DamagedRecord> left;
  private final List<Owned> pins;
  private final Steps steps = new Steps();
  private volatile @Nullable RuntimeException failure;

  /// @param damaged in segments that are all there
  SettingAside(SegmentEngine engine, LostRecords lost, Executor reading, List<DamagedRecord> damaged) {
    this.engine = engine;
    this.lost = lost;
    this.reading = reading;
    this.left = damaged.iterator();
    this.pins = damaged.stream().map(each -> each.at().segment()).distinct().map(engine::pin).toList();
  }

  /// Begins with the first.
  void begin() {
    if (left.hasNext()) {
      reading.execute(this::step);
    }
  }

  private void step() {
    if (!steps.begin()) {
      letGo();
      return;
    }
    try {
      setAside(left.next());
    } catch (RuntimeException e) { // of this one
      failure = e;
    } finally { // also if there is no memory for it: else nobody would let go of the segments
      boolean more = left.hasNext() && !steps.isClosed();
      if (!more) {
        letGo();
      }
      steps.ended();
      if (more) {
        reading.execute(this::step);
      }
    }
  }

  private void letGo() {
    pins.forEach(Owned::close);
  }

  private void setAside(DamagedRecord damaged) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment record = arena.allocate(damaged.at().length(), Long.BYTES);
      engine.readOnce(damaged.at(), 0, record);
      StorageFailedException unkept = lost.keep(record, damaged.damage());
      if (unkept == null) {
        takeOut(damaged.at(), record.asSlice(0, Long.BYTES));
      } else {
        failure = unkept;
      }
    }
  }

  private void takeOut(Location at, MemorySegment first) {
    first.set(WORD, 0, RecordFormat.GAP);
    try {
      engine.patch(at, 0, first);
    } catch (UnknownLocationException e) {
      // nothing else in its segment counted: that is gone
    }
  }

  /// The newest of one that could not be set aside; null if there is none.
  @Nullable RuntimeException failure() {
    return failure;
  }

  /// Leaves what is left to the next opening.
  ///
  /// @return completes when none is being set aside any more
  Mono<Void> close() {
    return steps.close();
  }
}
