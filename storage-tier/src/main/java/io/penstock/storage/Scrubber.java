package io.penstock.storage;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.BlockKey;
import io.penstock.block.Owned;
import io.penstock.storage.disk.ByteRate;
import io.penstock.storage.disk.JournalClock;
import io.penstock.storage.engine.EngineFailure.EngineClosedException;
import io.penstock.storage.engine.EngineFailure.RecordUnreadableException;
import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import io.penstock.storage.engine.EngineFailure.UnknownLocationException;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.index.CrcMismatch;
import io.penstock.storage.index.DeadRecord;
import io.penstock.storage.index.LocationTable;
import io.penstock.storage.index.RecordLocation;
import io.penstock.storage.record.RecordName;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// Reads the live blocks of an open journal, segment after segment, in the background, and compares every byte. A
/// damaged block is lost, and its bytes go to the quarantine. A block that the disk does not give is lost once it is
/// given up.
///
/// One step of at most 1 MiB runs at a time, on a thread that reads. It gives way to puts and reads, for a second at
/// most.
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
  @GuardedBy("this") private int segment;
  /// Blocks of the segment, and how many of them were compared.
  @GuardedBy("this") private int[] numbers = {};
  @GuardedBy("this") private int next;
  @GuardedBy("this") private int pauses;
  /// Time at which this pass began.
  @GuardedBy("this") private long began;
  /// Whether a record failed in this pass.
  @GuardedBy("this") private boolean failing;
  private final AcceptedWork steps = new AcceptedWork("journal", "steps", 1);
  private volatile ScrubStat stat = ScrubStat.NONE;

  /// @param records reads records; used by this scrubber alone
  /// @param busy whether puts or reads want the disk
  /// @param freed receives dead records; on the thread that reads
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

  /// Begins the first pass, if a scrub is wanted.
  synchronized void start() {
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
    if (steps.tryEnter()) {
      long wait = 0;
      try {
        wait = compared();
      } finally { // after an Error no close may wait
        steps.leave();
      }
      after(wait);
    }
  }

  /// Runs a step.
  ///
  /// @return milliseconds until the next one
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
      steps.close();
      return 0;
    } catch (RuntimeException e) { // the next step begins behind this segment
      told(0, 0, 1, e);
      next = numbers.length;
      return PAUSE_MILLIS;
    }
  }

  /// Compares as much as a step may.
  ///
  /// @return whether the pass is over
  @GuardedBy("this") private boolean isOver() {
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

  @GuardedBy("this") private boolean nextSegment() {
    int before = segment;
    segment = engine.segments().stream().filter(each -> each > before).findFirst().orElse(0);
    numbers = segment == 0 ? new int[0] : locations.numbers(segment);
    next = 0;
    return segment != 0;
  }

  @GuardedBy("this") private long compare(int number) {
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

  @GuardedBy("this") private void comparePinned(int number, RecordLocation location) {
    Owned pin = engine.pin(segment);
    try {
      CrcMismatch flaw = records.read(location);
      if (flaw != null) {
        lose(number, location, flaw);
      }
      told(location.at().length(), 0, 0, null);
    } catch (RecordUnreadableException e) { // the disk gives other records
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
    told(0, 0, 1, isLost ? null : why); // the scrub does not try a lost record again
  }

  /// The name of a record that the disk does not give as a whole: it may give the head.
  private @Nullable RecordName nameAt(RecordLocation location) {
    try {
      BlockKey key = records.keyAt(location);
      return key == null ? null : new RecordName(key, location.sequence());
    } catch (StorageFailedException | RecordUnreadableException e) {
      return null;
    }
  }

  private synchronized void told(long bytes, long corrupt, long failed, @Nullable RuntimeException failure) {
    ScrubStat last = stat;
    failing |= failure != null;
    stat = new ScrubStat(last.passes(), last.bytes() + bytes, last.corrupt() + corrupt, last.failed() + failed,
        failure == null ? last.failure() : failure);
  }

  /// A failure is a problem until a pass ends without one.
  @GuardedBy("this") private void passed() {
    ScrubStat last = stat;
    stat =
        new ScrubStat(last.passes() + 1, last.bytes(), last.corrupt(), last.failed(), failing ? last.failure() : null);
    failing = false;
  }

  ScrubStat stat() {
    return stat;
  }

  /// Begins no more steps.
  ///
  /// @return completes when no step runs
  Mono<Void> close() {
    return steps.close();
  }
}
