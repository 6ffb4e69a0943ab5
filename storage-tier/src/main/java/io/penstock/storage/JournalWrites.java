package io.penstock.storage;

import io.penstock.KvException;
import io.penstock.block.Block;
import io.penstock.operator.Handover;
import io.penstock.storage.disk.ByteRate;
import io.penstock.storage.disk.JournalClock;
import io.penstock.storage.index.DeadRecord;
import io.penstock.tier.spi.BlockStore.Evictor;
import io.penstock.tier.spi.StoreUnavailableException;
import io.penstock.tier.spi.StoredBlock;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.MonoSink;

/// Runs the work of the appending thread: puts, closed blocks, compaction, the end.
final class JournalWrites {
  /// Tasks of the journal itself: a sweep that waits, a sweep that runs, a step of compaction, the close.
  static final int OWN_TASKS = 4;

  /// Maximum bytes that a step of compaction moves; waiting puts run before the next step.
  private static final int STEP_BYTES = 1 << 20;

  /// Time between two looks at the disk while nothing is written.
  private static final long LOOK_MILLIS = 1_000;

  /// Maximum wait before an unreadable segment is tried again.
  private static final long MOST_RETRY_MILLIS = 10_000;

  private final JournalLog log;
  private final Reclaimer reclaimer;
  private final CapacityLimit room;
  private final ByteRate rate;
  private final JournalClock clock;
  private final Executor appending;
  private final AcceptedWork puts;
  private final ConcurrentLinkedQueue<DeadRecord> freed = new ConcurrentLinkedQueue<>();
  private final boolean watched;
  /// Waiting batches. Either the thread that appends or a refusal removes a batch and answers its caller.
  private final Set<Handover<List<StoredBlock>>> waiting = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean sweepAsked = new AtomicBoolean();
  private final AtomicBoolean healthyAgain = new AtomicBoolean();
  /// A retry of segments that could not be read is scheduled.
  private final AtomicBoolean retryAsked = new AtomicBoolean();
  private volatile boolean closed;
  /// A step of compaction is scheduled.
  private boolean moving;
  private volatile DiskUse stat;
  private volatile Evictor shortage = blocks -> 0;

  /// @param puts counts the batches
  JournalWrites(JournalLog log, Reclaimer reclaimer, CapacityLimit room, ReclaimOptions options, JournalThreads threads,
      AcceptedWork puts) {
    this.log = log;
    this.reclaimer = reclaimer;
    this.room = room;
    this.clock = threads.clock();
    this.rate = new ByteRate(options.bytesPerSecond(), clock);
    this.appending = threads.appending();
    this.puts = puts;
    this.stat = reclaimer.stat(null);
    this.watched = options.diskHighWatermark() < 1;
    room.relieve(() -> giveBack() > 0);
  }

  /// Uses `of` from now on to make room.
  void useEvictor(Evictor of) {
    shortage = of;
    if (watched && clock.runs()) {
      clock.after(LOOK_MILLIS, this::look);
    }
  }

  /// Looks at the disk from time to time, since other programs fill it, too.
  private void look() {
    if (!closed) {
      askForSweep();
      clock.after(LOOK_MILLIS, this::look);
    }
  }

  /// The first call: counts the records that the opening found dead.
  void begin(List<DeadRecord> dead) {
    log.sweep(dead);
    done(log.flush());
  }

  /// Appends `batch`, whose blocks stay the caller's.
  void put(List<Block> batch, Handover<List<StoredBlock>> sink) {
    waiting.add(sink);
    appending.execute(() -> {
      if (waiting.remove(sink)) {
        append(batch, sink);
      } else {
        puts.leave(); // only now: the thread's queue takes no more tasks than were accepted
      }
    });
  }

  /// Fails all batches that wait. Any thread.
  void refuse(StoreUnavailableException why) {
    for (Handover<List<StoredBlock>> sink : List.copyOf(waiting)) {
      if (waiting.remove(sink)) {
        sink.error(why);
      }
    }
  }

  private void append(List<Block> batch, Handover<List<StoredBlock>> sink) {
    List<StoredBlock> storedBlocks = List.of();
    Throwable failure = null;
    try {
      storedBlocks = List.copyOf(log.append(batch, room));
    } catch (Throwable e) { // the caller must hear of it, whatever it is
      failure = e;
    }
    try {
      done(stat.failure());
    } finally { // the caller does not wait for compaction
      puts.leave();
      if (failure == null) {
        sink.success(storedBlocks);
      } else {
        sink.error(failure);
      }
    }
  }

  /// A stored block was closed. Any thread.
  void free(DeadRecord dead) {
    if (!closed) {
      freed.add(dead);
      askForSweep();
    }
  }

  /// A sync has ended: segments that waited for it may be deleted. Any thread.
  void synced() {
    if (!closed && log.waitsForSync()) {
      askForSweep();
    }
  }

  private void askForSweep() {
    if (sweepAsked.compareAndSet(false, true)) {
      appending.execute(this::sweep);
    }
  }

  /// The disk is healthy again: unreadable segments may be tried. Any thread.
  void retry() {
    if (!closed) {
      healthyAgain.set(true);
      askForSweep();
    }
  }

  private void sweep() {
    sweepAsked.set(false);
    if (healthyAgain.getAndSet(false)) {
      reclaimer.retryNow();
    }
    if (!closed) {
      done(log.sweep(dead()));
    }
  }

  private List<DeadRecord> dead() {
    List<DeadRecord> dead = new ArrayList<>();
    for (DeadRecord each = freed.poll(); each != null; each = freed.poll()) {
      dead.add(each);
    }
    return dead;
  }

  /// Asks the owner to give up a segment's worth of blocks.
  ///
  /// @return how many of them are free already, as no reader has them
  private int giveBack() {
    shortage.evict(reclaimer.blocksASegment());
    List<DeadRecord> dead = dead();
    log.sweep(dead);
    return dead.size();
  }

  /// If the journal exceeds its own capacity and compaction gives nothing, asks the owner to give up its oldest blocks.
  /// The next sweep sees whether that was enough. A disk that others have filled costs no block: giving blocks up would
  /// not end until none is left.
  private void relieveIfPressed() {
    if (!reclaimer.isPressed() || reclaimer.isDeleting()) {
      return;
    }
    boolean gives = reclaimer.isOverCapacity() && shortage.evict(reclaimer.blocksASegment()) > 0;
    if (!gives && reclaimer.endsActive()) {
      askForSweep();
    }
  }

  private void done(@Nullable KvException failure) {
    stat = reclaimer.stat(failure);
    moveIfWanted();
  }

  /// Schedules a step of compaction if too much is dead, behind the puts that wait.
  private void moveIfWanted() {
    if (!moving && !closed && reclaimer.isWanted()) {
      moving = true;
      long wait = rate.waitMillis();
      if (wait == 0) {
        appending.execute(this::move);
      } else {
        clock.after(wait, () -> appending.execute(this::move));
      }
    } else if (!moving && !closed) {
      retryLater();
      relieveIfPressed();
    }
  }

  private void move() {
    moving = false;
    if (closed) {
      return;
    }
    try {
      rate.spent(reclaimer.step(STEP_BYTES));
      done(log.sweep(List.of()));
    } catch (KvException e) {
      stat = reclaimer.stat(e); // the next put, or the next closed block, tries again
      retryLater();
    }
  }

  /// Schedules another try of unreadable segments.
  private void retryLater() {
    long wait = reclaimer.retryInMillis();
    if (wait > 0 && retryAsked.compareAndSet(false, true)) {
      clock.after(Math.min(wait, MOST_RETRY_MILLIS), () -> {
        retryAsked.set(false);
        if (!closed) {
          askForSweep();
        }
      });
    }
  }

  DiskUse stat() {
    return stat;
  }

  /// Writes removals of all dead records.
  void flush(MonoSink<Void> sink) {
    appending.execute(() -> {
      Throwable failure = failureOf(this::marked);
      puts.leave();
      if (failure == null) {
        sink.success();
      } else {
        sink.error(failure);
      }
    });
  }

  private @Nullable KvException marked() {
    sweep();
    return log.flush();
  }

  /// The failure of `work`, if it fails.
  private static @Nullable Throwable failureOf(Supplier<? extends @Nullable KvException> work) {
    try {
      return work.get();
    } catch (Throwable e) {
      return e;
    }
  }

  /// Writes removals, syncs and then, in any case, passes the failure to `last`. The last call. A block whose removal
  /// fails comes back at the next opening.
  void end(Consumer<@Nullable Throwable> last) {
    appending.execute(() -> {
      Throwable unmarked = failureOf(this::marked);
      Throwable unsynced = failureOf(log::close);
      closed = true;
      last.accept(unsynced == null ? unmarked : unsynced);
    });
  }
}
