package io.penstock.storage;

import io.penstock.KvException;
import io.penstock.block.Block;
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

/// All that the appending thread of a journal does: puts, closed blocks, the end.
final class JournalWrites {
  /// Tasks that no caller asked for: a sweep that waits, one that runs while another is asked for, a step of moving
  /// blocks, the close.
  static final int OWN_TASKS = 4;

  /// Most bytes moved in one step; waiting puts run before the next step.
  private static final int STEP_BYTES = 1 << 20;

  /// How often the disk is looked at where nothing is written.
  private static final long LOOK_MILLIS = 1_000;

  /// How often, at least, it is seen whether a segment may be tried again that could not be read.
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
  /// Batches that were not begun. The caller of each is told once: by the thread that appends or by a refusal.
  private final Set<MonoSink<List<StoredBlock>>> waiting = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean sweepAsked = new AtomicBoolean();
  private final AtomicBoolean wellAgain = new AtomicBoolean();
  /// A retry of segments that could not be read is scheduled.
  private final AtomicBoolean retryAsked = new AtomicBoolean();
  private volatile boolean closed;
  /// The next step is on its way.
  private boolean moving;
  private volatile SpaceStat stat;
  private volatile Evictor shortage = blocks -> 0;

  /// @param puts left by each task that entered it
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

  /// Asks `of` for room from now on.
  void useEvictor(Evictor of) {
    shortage = of;
    if (watched && clock.runs()) {
      clock.after(LOOK_MILLIS, this::look);
    }
  }

  /// Others fill the disk, too.
  private void look() {
    if (!closed) {
      askForSweep();
      clock.after(LOOK_MILLIS, this::look);
    }
  }

  /// The first call: takes note of what was found dead. What cannot be done now is done later.
  void begin(List<DeadRecord> dead) {
    log.sweep(dead);
    done(log.settle());
  }

  /// Appends `batch`, whose blocks stay the caller's.
  void put(List<Block> batch, MonoSink<List<StoredBlock>> sink) {
    waiting.add(sink);
    appending.execute(() -> {
      if (waiting.remove(sink)) {
        append(batch, sink);
      } else {
        puts.leave(); // only now: the thread's queue is as long as what was accepted
      }
    });
  }

  /// Fails all that were not begun. Any thread.
  void refuse(StoreUnavailableException why) {
    for (MonoSink<List<StoredBlock>> sink : List.copyOf(waiting)) {
      if (waiting.remove(sink)) {
        sink.error(why);
      }
    }
  }

  private void append(List<Block> batch, MonoSink<List<StoredBlock>> sink) {
    List<StoredBlock> storedBlocks = List.of();
    Throwable failure = null;
    try {
      storedBlocks = List.copyOf(log.append(batch, room));
    } catch (Throwable e) { // the caller must hear of it, whatever it is
      failure = e;
    }
    try {
      done(stat.failure());
    } finally { // moving blocks is no business of theirs
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

  /// A sync has ended: what waited for it may go. Any thread.
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

  /// The disk is healthy again: what could not be read may be tried. Any thread.
  void retry() {
    if (!closed) {
      wellAgain.set(true);
      askForSweep();
    }
  }

  private void sweep() {
    sweepAsked.set(false);
    if (wellAgain.getAndSet(false)) {
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

  /// Has a segment's worth of blocks given up.
  ///
  /// @return how many of them are gone already, as no reader has them
  private int giveBack() {
    shortage.evict(reclaimer.blocksASegment());
    List<DeadRecord> dead = dead();
    log.sweep(dead);
    return dead.size();
  }

  /// The journal or the disk is too full, and no segment is worth moving: some blocks have to go, oldest first. What
  /// goes is swept, and then it is seen whether that was enough.
  private void relieveIfPressed() {
    if (!reclaimer.isPressed() || reclaimer.isDeleting()) {
      return;
    }
    if (shortage.evict(reclaimer.blocksASegment()) == 0 && reclaimer.endsActive()) {
      askForSweep();
    }
  }

  private void done(@Nullable KvException failure) {
    stat = reclaimer.stat(failure);
    moveIfWanted();
  }

  /// Has blocks moved together, if there is too much that is dead: a step at a time, each behind those who wait.
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
      stat = reclaimer.stat(e); // it is tried again with the next put, or the next closed block
      retryLater();
    }
  }

  /// Comes back to segments that could not be read.
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

  SpaceStat stat() {
    return stat;
  }

  /// Marks all that is dead on the disk.
  void settle(MonoSink<Void> sink) {
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
    return log.settle();
  }

  /// The caller must hear of it, whatever it is.
  private static @Nullable Throwable failureOf(Supplier<? extends @Nullable KvException> work) {
    try {
      return work.get();
    } catch (Throwable e) {
      return e;
    }
  }

  /// Marks what it can, syncs and then, in any case, tells `last` what failed; nothing comes after it. What the disk
  /// refuses to mark comes back at the next opening.
  void end(Consumer<@Nullable Throwable> last) {
    appending.execute(() -> {
      Throwable unmarked = failureOf(this::marked);
      Throwable unsynced = failureOf(log::close);
      closed = true;
      last.accept(unsynced == null ? unmarked : unsynced);
    });
  }
}
