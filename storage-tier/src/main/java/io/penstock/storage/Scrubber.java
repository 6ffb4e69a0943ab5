package io.penstock.storage;

import io.penstock.block.BlockKey;
import io.penstock.block.Owned;
import io.penstock.storage.engine.EngineClosedException;
import io.penstock.storage.engine.RecordUnreadableException;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.engine.StorageFailedException;
import io.penstock.storage.engine.UnknownLocationException;
import io.penstock.storage.record.RecordName;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// Reads the live blocks of an open journal, segment after segment, in the background, and compares every byte. What is
/// damaged is set aside and lost: its next read fails. So is what the disk does not give, once it was
/// tried often enough.
///
/// A step of at most 1 MiB runs at a time, on a thread that reads, and gives way while others want the disk, for a
/// second at most.
final class Scrubber {
  private static final int STEP_BYTES = 1 << 20;
  private static final long PAUSE_MILLIS = 20;
  private static final int MOST_PAUSES = 50;

  private final SegmentEngine engine;
  private final LocationTable locations;
  private final RecordMover records;
  private final ScrubOptions options;
  private final JournalClock clock;
  private final Executor reading;
  private final BooleanSupplier busy;
  private final LostRecords lost;
  private final Consumer<DeadRecord> freed;
  private final ByteRate rate;
  /// The rest is of the step that runs.
  private int segment;
  private int[] numbers = {};
  private int next;
  private int pauses;
  private long began;
  private boolean failing;
  private final BackgroundWork steps = new BackgroundWork();
  private volatile ScrubStat stat = ScrubStat.NONE;

  /// @param records reads them; of this alone
  /// @param busy whether puts or reads want the disk
  /// @param freed hears of records that count no more; on the thread that reads
  Scrubber(SegmentEngine engine, LocationTable locations, RecordMover records, LostRecords lost, ScrubOptions options,
      JournalThreads threads,
      BooleanSupplier busy, Consumer<DeadRecord> freed) {
    this.engine = engine;
    this.locations = locations;
    this.records = records;
    this.options = options;
    this.clock = threads.clock();
    this.reading = threads.reading();
    this.busy = busy;
    this.lost = lost;
    this.freed = freed;
    this.rate = new ByteRate(Math.max(1, options.bytesPerSecond()), clock);
  }

  /// The first pass begins at once, if there is to be one.
  void start() {
    if (options.bytesPerSecond() > 0) {
      began = clock.millis();
      after(1);
    }
  }

  private void after(long millis) {
    if (!steps.isClosed()) {
      clock.after(Math.max(1, millis), () -> reading.execute(this::step));
    }
  }

  private void step() {
    if (steps.begin()) {
      long wait = 0;
      try {
        wait = compared();
      } finally { // an Error ends the scrub, and no close waits for it
        steps.ended();
      }
      after(wait);
    }
  }

  /// A step, and how long it is until the next.
  private synchronized long compared() {
    if (busy.getAsBoolean() && pauses < MOST_PAUSES) {
      pauses++;
      return PAUSE_MILLIS;
    }
    pauses = 0;
    try {
      if (!isOver()) {
        return rate.waitMillis();
      }
      passed();
      long wait = Math.max(rate.waitMillis(), began + options.pass().toMillis() - clock.millis());
      began = Math.max(clock.millis(), began + options.pass().toMillis());
      return wait;
    } catch (EngineClosedException e) {
      steps.stop();
      return 0;
    } catch (RuntimeException e) { // of one segment: the next step begins behind it
      told(0, 0, 1, e);
      next = numbers.length;
      return PAUSE_MILLIS;
    }
  }

  /// Compares as much as a step may; answers whether that was the end of a pass.
  private boolean isOver() {
    long done = 0;
    while (done < STEP_BYTES) {
      if (next == numbers.length && !nextSegment()) {
        rate.spent(done);
        return true;
      }
      done += next < numbers.length ? compare(numbers[next++]) : 0;
    }
    rate.spent(done);
    return false;
  }

  private boolean nextSegment() {
    int before = segment;
    segment = engine.segments().stream().filter(each -> each > before).findFirst().orElse(0);
    numbers = segment == 0 ? new int[0] : locations.numbers(segment);
    next = 0;
    return segment != 0;
  }

  private long compare(int number) {
    RecordLocation location = locations.locationIn(segment, number);
    if (location == null) {
      return 0; // closed or moved meanwhile
    }
    try {
      comparePinned(number, location);
    } catch (UnknownLocationException e) {
      return 0; // deleted meanwhile
    } catch (StorageFailedException e) {
      told(0, 0, 1, e);
    }
    return location.at().length();
  }

  private void comparePinned(int number, RecordLocation location) {
    Owned pin = engine.pin(segment);
    try {
      CrcMismatch flaw = records.read(location);
      if (flaw != null) {
        lose(number, location, flaw);
      }
      told(location.at().length(), 0, 0, null);
    } catch (RecordUnreadableException e) { // the disk gives others
      lose(number, location, e);
    } finally {
      pin.close();
    }
  }

  private void lose(int number, RecordLocation location, CrcMismatch flaw) {
    lost.lose(number, location, records, flaw, dead -> {
      told(0, 1, 0, null);
      freed.accept(dead);
    });
  }

  private void lose(int number, RecordLocation location, RecordUnreadableException why) {
    RecordName name = nameAt(location);
    boolean isLost = lost.lose(number, location, why);
    if (isLost) {
      freed.accept(new DeadRecord(name, location.segment()));
    }
    told(0, 0, 1, isLost ? null : why); // what is lost is not tried again
  }

  /// Often it is only a part of a record that is not given.
  private @Nullable RecordName nameAt(RecordLocation location) {
    try {
      BlockKey key = records.keyAt(location);
      return key == null ? null : new RecordName(key, location.sequence());
    } catch (StorageFailedException | RecordUnreadableException e) {
      return null;
    }
  }

  private void told(long bytes, long corrupt, long failed, @Nullable RuntimeException failure) {
    ScrubStat last = stat;
    failing |= failure != null;
    stat = new ScrubStat(last.passes(), last.bytes() + bytes, last.corrupt() + corrupt, last.failed() + failed,
        failure == null ? last.failure() : failure);
  }

  /// What failed in a pass is a problem until one comes to its end without.
  private void passed() {
    ScrubStat last = stat;
    stat =
        new ScrubStat(last.passes() + 1, last.bytes(), last.corrupt(), last.failed(), failing ? last.failure() : null);
    failing = false;
  }

  ScrubStat stat() {
    return stat;
  }

  /// Begins no step any more.
  ///
  /// @return completes when none is under way
  Mono<Void> close() {
    return steps.close();
  }
}
