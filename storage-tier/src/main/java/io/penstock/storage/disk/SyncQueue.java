package io.penstock.storage.disk;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.KvException;
import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import io.penstock.storage.engine.SegmentEngine;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// Forces appended bytes to the medium by a [SyncRule], and knows what is not forced yet. Safe from any thread.
///
/// Positions count the bytes appended since the opening. A sync covers all bytes that were appended when it began;
/// appending goes on meanwhile. The bytes of a failed sync are lost: a system reports an error once, so a later sync of
/// the same bytes succeeds even if they are not on the medium.
public final class SyncQueue {
  private final SegmentEngine engine;
  private final SyncRule rule;
  private final JournalClock clock;
  private final Runnable afterSync;
  /// Held during a sync; taken before `this`.
  private final Object forcing = new Object();
  @GuardedBy("this") private long appended;
  @GuardedBy("this") private long synced;
  /// End of the bytes that the newest sync covers.
  @GuardedBy("this") private long taken;
  /// The position after the append that is in progress.
  @GuardedBy("this") private long admitted;
  @GuardedBy("this") private final LostRange lost = new LostRange();
  /// Time at which the oldest unsynced byte was appended, or before.
  @GuardedBy("this") private long since;
  /// False during the opening, which uses the journal alone.
  @GuardedBy("this") private boolean started;
  /// A record that the opening found, or a delete, may not be on the medium, although nothing was appended.
  @GuardedBy("this") private boolean changed;
  @GuardedBy("this") private boolean timed;
  @GuardedBy("this") private boolean asked;
  @GuardedBy("this") private boolean closed;
  @GuardedBy("this") private long syncs;
  /// The number of syncs begun, and the number of the last one that succeeded.
  @GuardedBy("this") private long begun;
  @GuardedBy("this") private long done;
  @GuardedBy("this") private long failures;
  @GuardedBy("this") private @Nullable KvException failure;

  /// @param afterSync runs after each sync, on the thread that synced
  public SyncQueue(SegmentEngine engine, SyncRule rule, JournalClock clock, Runnable afterSync) {
    this.engine = engine;
    this.rule = rule;
    this.clock = clock;
    this.afterSync = afterSync;
  }

  /// Waits until another `bytes` may be unsynced.
  ///
  /// @throws StorageFailedException if the sync failed: nothing may be appended now
  public void admit(long bytes) {
    if (rule.mode() == SyncMode.INTERVAL && isTooMuch(bytes) && !isRoomSoon(bytes)) {
      sync();
    }
    synchronized (this) {
      admitted = appended + bytes;
    }
  }

  /// Waits for a sync in progress, which may be enough.
  private boolean isRoomSoon(long bytes) {
    synchronized (forcing) {
      return !isTooMuch(bytes);
    }
  }

  private synchronized boolean isTooMuch(long more) {
    return appended > synced && appended - synced + more > rule.bytes();
  }

  /// Counts appended bytes.
  public void appended(long bytes) {
    synchronized (this) {
      if (appended == synced) {
        since = clock.millis();
      }
      appended += bytes;
    }
    if (rule.mode() == SyncMode.INTERVAL) {
      askInTime();
      if (isHalfFull()) {
        ask();
      }
    }
  }

  /// Syncs a batch before its receipts, with durability `always`.
  ///
  /// @throws StorageFailedException if that failed
  public void acknowledged() {
    if (rule.mode() == SyncMode.ALWAYS) {
      sync();
      engine.trim();
    }
  }

  private synchronized boolean isHalfFull() {
    return appended - Math.max(synced, taken) >= rule.bytes() / 2;
  }

  private void askInTime() {
    long wait;
    synchronized (this) {
      if (!started || timed || appended == synced || closed) {
        return;
      }
      timed = true;
      wait = Math.max(1, since + rule.interval().toMillis() - clock.millis());
    }
    clock.after(wait, this::inTime);
  }

  private void inTime() {
    boolean due;
    synchronized (this) {
      timed = false;
      due = appended > synced && clock.millis() - since >= rule.interval().toMillis();
    }
    boolean isDone = false;
    try {
      isDone = !due || tried();
    } finally { // without another try bytes would stay unsynced
      if (isDone) {
        askInTime();
      } else {
        again();
      }
    }
  }

  /// Schedules the next try an interval after a failed sync.
  private void again() {
    synchronized (this) {
      if (timed || closed) {
        return;
      }
      timed = true;
    }
    clock.after(rule.interval().toMillis(), this::inTime);
  }

  /// Schedules a sync on the clock's thread.
  public void ask() {
    synchronized (this) {
      if (!started || asked || closed) {
        return;
      }
      asked = true;
    }
    clock.after(0, () -> {
      synchronized (this) {
        asked = false;
      }
      tried();
    });
  }

  /// Syncs; [#stat] reports a failure.
  private boolean tried() {
    try {
      sync();
      engine.trim();
      return true;
    } catch (KvException e) {
      return false;
    }
  }

  /// Forces all appended bytes; waits for a sync in progress. Does nothing after [#close].
  ///
  /// @throws StorageFailedException if the medium did not do it
  void sync() {
    synchronized (forcing) {
      long upTo;
      long began;
      long number;
      synchronized (this) {
        if (closed || (appended == synced && !changed)) {
          return;
        }
        changed = false;
        number = ++begun;
        upTo = appended;
        taken = upTo;
        began = clock.millis();
      }
      force();
      succeeded(upTo, began, number);
    }
    if (isStarted()) {
      afterSync.run();
    }
  }

  /// The next sync has something to force, although nothing was appended.
  ///
  /// @return the moment, for [#isForced]
  public synchronized long changed() {
    changed = true;
    return begun;
  }

  /// Whether a change at `moment` is on the medium; true if the rule forces nothing.
  public synchronized boolean isForced(long moment) {
    return rule.mode() == SyncMode.NONE || done > moment;
  }

  /// Ends the opening: from now on the clock and callers may sync, too.
  public void start() {
    synchronized (this) {
      started = true;
    }
    afterSync.run();
    if (rule.mode() == SyncMode.INTERVAL) {
      askInTime();
    }
  }

  private synchronized boolean isStarted() {
    return started;
  }

  private void force() {
    try {
      engine.sync();
    } catch (KvException e) {
      failed(e);
      roll();
      throw e;
    } catch (Throwable e) { // an engine should not throw this
      failed(new StorageFailedException("sync", new IOException(e)));
      roll();
      throw e;
    }
  }

  /// Ends the segment, since a failed sync may leave holes in it: later records must not lie behind one.
  private void roll() {
    try {
      engine.roll();
    } catch (KvException e) {
      failed(e);
    } finally {
      lost();
    }
  }

  private synchronized void succeeded(long upTo, long began, long number) {
    done = number;
    synced = upTo;
    since = began;
    syncs++;
  }

  /// Adds also bytes that were appended during the sync: they lie in that segment.
  private synchronized void lost() {
    lost.add(synced, Math.max(appended, admitted));
  }

  private synchronized void failed(KvException e) {
    taken = synced;
    changed = true;
    failures++;
    failure = e;
  }

  /// The end of the appended bytes.
  public synchronized long position() {
    return appended;
  }

  /// Whether the bytes between these are as safe as the rule demands before an older copy is deleted.
  private synchronized boolean covers(long from, long to) {
    return rule.mode() == SyncMode.NONE || (to <= synced && !isLost(from, to));
  }

  /// Whether some bytes between these are lost.
  public synchronized boolean isLost(long from, long to) {
    return lost.touches(from, to);
  }

  /// Makes the bytes from `from` to `to` safe: at once if the rule is `always` or there is no clock, else soon. Lost
  /// bytes never get safe.
  ///
  /// @param now whether to sync at once in any case
  /// @return whether they are safe
  /// @throws StorageFailedException if the sync failed; with `now` also if an earlier one did
  public boolean secure(long from, long to, boolean now) {
    if (covers(from, to)) {
      return true;
    }
    if (isLost(from, to)) {
      if (now) {
        throwFailure();
      }
      return false;
    }
    if (now || rule.mode() == SyncMode.ALWAYS || !clock.runs()) {
      sync();
      return covers(from, to);
    }
    ask();
    return false;
  }

  private synchronized void throwFailure() {
    if (failure != null) {
      throw failure;
    }
  }

  /// Forces the rest, unless the rule forces nothing. The last sync.
  ///
  /// @return the failure, if there is one
  public @Nullable KvException close() {
    boolean done = false;
    boolean sure = isSure();
    try {
      done = rule.mode() == SyncMode.NONE || tried();
    } finally {
      end();
    }
    synchronized (this) {
      return done && sure ? null : failure;
    }
  }

  /// Whether a success of the next sync proves that all bytes are on the medium.
  private synchronized boolean isSure() {
    return lost.endsBy(synced);
  }

  private void end() {
    synchronized (forcing) { // a sync in progress ends before the engine is closed
      synchronized (this) {
        closed = true;
      }
    }
  }

  public synchronized SyncStat stat() {
    long unsynced = appended - synced;
    return new SyncStat(unsynced, unsynced == 0 ? 0 : clock.millis() - since, syncs, failures, lost.bytes(), failure);
  }
}
