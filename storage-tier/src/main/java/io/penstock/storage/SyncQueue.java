package io.penstock.storage;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.KvException;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.engine.StorageFailedException;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// Forces to the medium what was appended, by a [SyncRule], and knows what is not forced yet. Safe from any thread.
///
/// Positions are counts of bytes appended since the opening. A sync takes all that was appended when it began;
/// appending goes on meanwhile. What a failed sync covered is lost: a system tells of an error once, so that another
/// sync of the same bytes succeeds whether or not they are on the medium. The next one is for what comes after them.
final class SyncQueue {
  private final SegmentEngine engine;
  private final SyncRule rule;
  private final JournalClock clock;
  private final Runnable afterSync;
  /// One sync at a time; taken before `this`.
  private final Object forcing = new Object();
  @GuardedBy("this") private long appended;
  @GuardedBy("this") private long synced;
  /// What the newest sync takes, or took.
  @GuardedBy("this") private long taken;
  /// The most that may have been appended: with what is on its way.
  @GuardedBy("this") private long admitted;
  @GuardedBy("this") private final LostRange lost = new LostRange();
  /// When the oldest unsynced byte was appended, or earlier.
  @GuardedBy("this") private long since;
  /// Before it the opening works on the journal alone.
  @GuardedBy("this") private boolean started;
  /// What an opening found, or a name that is gone, may not be on the medium, though nothing was appended.
  @GuardedBy("this") private boolean changed;
  @GuardedBy("this") private boolean timed;
  @GuardedBy("this") private boolean asked;
  @GuardedBy("this") private boolean closed;
  @GuardedBy("this") private long syncs;
  /// Of the syncs that were begun: how many, and which was the last that succeeded.
  @GuardedBy("this") private long begun;
  @GuardedBy("this") private long done;
  @GuardedBy("this") private long failures;
  @GuardedBy("this") private @Nullable KvException failure;

  /// @param afterSync told by the thread that synced
  SyncQueue(SegmentEngine engine, SyncRule rule, JournalClock clock, Runnable afterSync) {
    this.engine = engine;
    this.rule = rule;
    this.clock = clock;
    this.afterSync = afterSync;
  }

  /// Makes sure that another `bytes` may be unsynced; waits for a sync if not.
  ///
  /// @throws StorageFailedException if that failed: nothing more may be appended now
  void admit(long bytes) {
    if (rule.mode() == SyncMode.INTERVAL && isTooMuch(bytes) && !isRoomSoon(bytes)) {
      sync();
    }
    synchronized (this) {
      admitted = appended + bytes;
    }
  }

  /// Waits for a sync that runs: it may be all that is needed, and appending goes on while the next one works.
  private boolean isRoomSoon(long bytes) {
    synchronized (forcing) {
      return !isTooMuch(bytes);
    }
  }

  private synchronized boolean isTooMuch(long more) {
    return appended > synced && appended - synced + more > rule.bytes();
  }

  /// So many bytes were appended.
  void appended(long bytes) {
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

  /// A batch is about to be acknowledged.
  ///
  /// @throws StorageFailedException if it had to be on the medium and is not
  void acknowledged() {
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
    } finally { // whatever it ended with: without another try bytes would stay volatile
      if (isDone) {
        askInTime();
      } else {
        again();
      }
    }
  }

  /// A sync failed, so the oldest bytes are too old already: the next try comes an interval later.
  private void again() {
    synchronized (this) {
      if (timed || closed) {
        return;
      }
      timed = true;
    }
    clock.after(rule.interval().toMillis(), this::inTime);
  }

  /// Has everything synced soon, on the clock's thread.
  void ask() {
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

  /// A failure is counted and kept: [#stat] tells it.
  private boolean tried() {
    try {
      sync();
      engine.trim();
      return true;
    } catch (KvException e) {
      return false;
    }
  }

  /// Forces everything appended so far; waits for a sync that runs. Nothing after [#close].
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

  /// Something other than what was appended is to be forced with the next sync.
  ///
  /// @return to be told to [#isForced]
  synchronized long changed() {
    changed = true;
    return begun;
  }

  /// Whether what changed at `moment` is on the medium; true if the rule is to force nothing.
  synchronized boolean isForced(long moment) {
    return rule.mode() == SyncMode.NONE || done > moment;
  }

  /// The opening is over: from now on the clock and the callers of syncs may work, too.
  void start() {
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
    } catch (Throwable e) { // not what an engine says, and as bad
      failed(new StorageFailedException("sync", new IOException(e)));
      roll();
      throw e;
    }
  }

  /// A failed sync may leave holes, and an opening may not read beyond one: what comes next must not lie behind it.
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

  /// Also what came while the sync ran: until the segment was ended, it lies behind the same hole.
  private synchronized void lost() {
    lost.add(synced, Math.max(appended, admitted));
  }

  private synchronized void failed(KvException e) {
    taken = synced;
    changed = true;
    failures++;
    failure = e;
  }

  /// Everything that was appended so far.
  synchronized long position() {
    return appended;
  }

  /// Whether what was appended between these is as safe as the rule wants it before an older copy may go.
  private synchronized boolean covers(long from, long to) {
    return rule.mode() == SyncMode.NONE || (to <= synced && !isLost(from, to));
  }

  /// Whether some of what was appended between these may never get to the medium, unnoticed.
  synchronized boolean isLost(long from, long to) {
    return lost.touches(from, to);
  }

  /// Makes what was appended between `from` and `to` safe: at once if that is the rule or there is no clock, else soon;
  /// never if it is lost.
  ///
  /// @param now at once, in any case
  /// @return whether it is
  /// @throws StorageFailedException if the medium did not do it; now or, if it must be now, before
  boolean secure(long from, long to, boolean now) {
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

  /// Forces what is left, unless the rule is to force nothing, and never works again.
  ///
  /// @return what could not be done, if anything
  @Nullable KvException close() {
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

  /// Whether the next sync will prove something of all that it covers.
  private synchronized boolean isSure() {
    return lost.endsBy(synced);
  }

  private void end() {
    synchronized (forcing) { // a sync that runs ends before the engine may be closed
      synchronized (this) {
        closed = true;
      }
    }
  }

  synchronized SyncStat stat() {
    long unsynced = appended - synced;
    return new SyncStat(unsynced, unsynced == 0 ? 0 : clock.millis() - since, syncs, failures, lost.bytes(), failure);
  }
}
