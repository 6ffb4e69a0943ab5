package io.penstock.storage.disk;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.KvException;
import io.penstock.storage.engine.EngineFailure.RecordUnreadableException;
import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import io.penstock.storage.engine.EngineFailure.StorageFullException;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.tier.StoreHealth;
import io.penstock.tier.spi.StoreUnavailableException;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import reactor.util.Logger;
import reactor.util.Loggers;

/// Judges the disk of a journal by calls that fail or take too long. Probes find out when an unhealthy disk is healthy
/// again.
///
/// | | |
/// |---|---|
/// | a write, a sync or a delete fails, or there is no room | degraded |
/// | [SuspectRecords#TOO_MANY] reads in a row fail | off |
/// | a call takes longer than it may | off, until the call ends |
/// | a probe writes, forces, reads and deletes a file, and one of the failed reads succeeds | active |
///
/// One read that fails proves nothing: the next probe reads the record again. Without a clock the disk always counts as
/// healthy. Safe from any thread.
public final class DiskHealth {
  private static final Logger LOG = Loggers.getLogger(DiskHealth.class);

  /// A sync may take this many times as long as a read.
  private static final int SLOW = 4;

  private final String store;
  private final HealthOptions options;
  /// Probes wait for the disk, on the thread that syncs.
  private final JournalClock probes;
  /// Ticks wait for nothing.
  private final JournalClock ticks;
  private final DiskWatch watch = new DiskWatch();
  private final SuspectRecords suspects = new SuspectRecords();
  private final Runnable changed;
  private final StoreUnavailableException noAnswer;
  private volatile StoreHealth health = StoreHealth.GOOD;
  private volatile @Nullable StorageFullException full;
  /// Engine for probes; null before [#start].
  @GuardedBy("this") private @Nullable SegmentEngine engine;
  @GuardedBy("this") private boolean stalled;
  @GuardedBy("this") private @Nullable KvException writeTrouble;
  /// A probe is scheduled.
  @GuardedBy("this") private boolean asked;
  /// Milliseconds until the next probe.
  @GuardedBy("this") private long wait;
  @GuardedBy("this") private boolean closed;
  @GuardedBy("this") private boolean ended;

  /// @param store named in errors
  /// @param changed called when the state changed, on the thread of `ticks`
  public DiskHealth(String store, HealthOptions options, JournalClock probes, JournalClock ticks, Runnable changed) {
    this.store = store;
    this.options = options;
    this.probes = probes;
    this.ticks = ticks;
    this.changed = changed;
    this.noAnswer = new StoreUnavailableException("no answer within " + options.stallAfter().toMillis() + " ms");
    this.wait = options.firstProbe().toMillis();
  }

  public StoreHealth health() {
    return health;
  }

  /// The failure of a refused call.
  public StoreUnavailableException unavailable() {
    return StoreUnavailableException.of(store, health);
  }

  /// Begins to watch the disk under `probed`.
  public void start(SegmentEngine probed) {
    synchronized (this) {
      engine = probed;
    }
    if (ticks.runs()) {
      tickLater();
    }
  }

  /// Ends the probes and the reports; stuck calls are watched until [#end].
  public synchronized void close() {
    closed = true;
  }

  public synchronized void end() {
    ended = true;
  }

  int enter() {
    return watch.enter(DiskWatch.TICKS);
  }

  public int enterSlow() {
    return watch.enter(SLOW * DiskWatch.TICKS);
  }

  public void leave(int slot) {
    watch.leave(slot);
  }

  void writeFailed(KvException e) {
    change(() -> trouble(e));
  }

  private synchronized void trouble(@Nullable KvException e) {
    writeTrouble = e;
  }

  /// The disk has no room. The caller may still make room.
  void full(StorageFullException e) {
    full = e;
  }

  /// A put failed for want of room. Room on the disk if the disk said so: the journal has a capacity of its own, too.
  public @SuppressWarnings("ReferenceEquality") // the very failure that the disk gave
  void putFailed(StorageFullException e) {
    if (e == full) {
      writeFailed(e);
    }
  }

  /// The records whose reads failed.
  public SuspectRecords suspects() {
    return suspects;
  }

  /// @return error for the reader of `record`: the failure or, if the record is given up, that it cannot be read
  KvException readFailed(Location record, KvException e) {
    if (!probes.runs()) {
      return e;
    }
    if (suspects.isGivenUp(record)) {
      return new RecordUnreadableException(record, e);
    }
    change(() -> suspects.add(record, e));
    return e;
  }

  // Ticks

  private void tickLater() {
    nextTick(this::tick);
  }

  /// Runs `task` a tick later, unless the journal has ended.
  public void nextTick(Runnable task) {
    if (!isOver()) {
      ticks.after(options.stallAfter().toMillis() / DiskWatch.TICKS, task);
    }
  }

  private synchronized boolean isOver() {
    return ended;
  }

  private void tick() {
    boolean late = watch.tick();
    if (isOver()) {
      return;
    }
    if (late != isStalled()) {
      change(() -> stalled(late));
    }
    tickLater();
  }

  private synchronized void stalled(boolean late) {
    stalled = late;
    writeTrouble = noAnswer; // until a probe succeeds
  }

  /// Whether a call takes longer than it may.
  public synchronized boolean isStalled() {
    return stalled;
  }

  // Probes

  private void probe() {
    SegmentEngine probed;
    synchronized (this) {
      asked = false;
      probed = engine;
    }
    if (probed != null && !isClosed()) {
      int slot = enterSlow();
      KvException unwritten = failureOf(probed::probe);
      leave(slot);
      boolean answers = unwritten == null || unwritten instanceof StorageFullException;
      KvException untried = failureOf(() -> suspects.retry(probed, answers));
      change(() -> probed(unwritten, unwritten == null && untried == null));
    }
  }

  private synchronized void probed(@Nullable KvException unwritten, boolean isHealthy) {
    writeTrouble = unwritten;
    wait = isHealthy && suspects.trouble() == null
        ? options.firstProbe().toMillis()
        : Math.min(2 * wait, options.lastProbe().toMillis());
  }

  private synchronized boolean isClosed() {
    return closed;
  }

  private @Nullable KvException failureOf(Runnable trial) {
    try {
      trial.run();
      return null;
    } catch (KvException e) {
      return e;
    } catch (Throwable e) { // the next probe tries again
      LOG.warn("store {} could not try its disk", store, e);
      return new StorageFailedException("try store " + store, new IOException(e));
    }
  }

  // The state

  /// Runs `what` under the lock. Reports a change of the state, and schedules a probe as long as anything is wrong.
  private void change(Runnable what) {
    if (!probes.runs()) {
      return;
    }
    boolean told;
    long probeIn;
    synchronized (this) {
      StoreHealth.State before = health.state();
      what.run();
      health = judged();
      told = health.state() != before && !closed;
      boolean isWanted =
          !closed && !asked && engine != null && (writeTrouble != null || stalled || suspects.isAny());
      asked |= isWanted;
      probeIn = isWanted ? wait : -1;
    }
    if (probeIn >= 0) {
      probes.after(probeIn, this::probe);
    }
    if (told) {
      ticks.after(0, changed); // the caller may hold a lock
    }
  }

  @GuardedBy("this") private StoreHealth judged() {
    KvException reading = suspects.trouble();
    if (stalled) {
      return new StoreHealth(StoreHealth.State.OFF, noAnswer.getMessage());
    }
    if (reading != null) {
      return new StoreHealth(StoreHealth.State.OFF, reading.getMessage());
    }
    return writeTrouble == null
        ? StoreHealth.GOOD
        : new StoreHealth(StoreHealth.State.DEGRADED, writeTrouble.getMessage());
  }
}
