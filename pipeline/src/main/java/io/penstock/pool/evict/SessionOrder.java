package io.penstock.pool.evict;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import io.penstock.block.session.SessionBounds;
import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionState;
import io.penstock.block.session.SessionUse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntConsumer;
import java.util.function.IntPredicate;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// Evicts by session: what a session still needs stays, also while it is silent. The policy is this project's own.
///
/// A row is of the session that used it last, or of none. Rows of no session are candidates of REUSE_AWARE. A session
/// is *kept* until its time is over ([SessionUse#keep]) or it ends, then *forgotten*. Victims come, in this order, from
///
/// 1. ended sessions, the one that ended first;
/// 2. if kept sessions have more than their part of the capacity: the kept session of the lowest priority, of equals
///    the one that was used longest ago;
/// 3. of three candidates the one with the lowest score of REUSE_AWARE: a row of no session, of the forgotten session
///    that was used longest ago, and of such a kept session that has more than its share;
/// 4. kept sessions, as in 2.
///
/// Within a session, rows that its last turns did not use leave first, then those deepest in the prompt: a prefix is of
/// use without what follows, not the other way round. A row that another session used, too, leaves an ended or
/// forgotten session for that other one if it is kept, else for the rows of no session. So the end of a session never
/// takes a prefix from others.
///
/// A session also remembers the keys of rows that other sessions have used since, so that all its blocks can be listed.
///
/// An operation costs O(log n) on average. A row costs 53 bytes, and a remembered key about 100. Not thread-safe.
public final class SessionOrder implements EvictionOrder {
  /// Lookups of a session after which a row that none of them used is a dead branch.
  private static final int DEAD_LOOKUPS = 4;
  /// Maximum number of kept sessions that one search for a victim looks at.
  private static final int MOST_TRIED = 64;
  /// Maximum number of keys that a session remembers of rows that other sessions have used since.
  private static final int MOST_LENT = 1 << 12;
  /// Maximum number of such keys of all sessions.
  private static final int MOST_LENT_IN_ALL = 1 << 18;
  /// Mark of a row that requests without a session used, or a session that is not known any more.
  private static final int ANY = -1;

  private final ScoreOrder common;
  private final long capacity;
  private SessionBounds bounds = SessionBounds.defaults();
  private LongSupplier nanos = () -> 0;
  private final Map<SessionId, Session> sessions = new HashMap<>();
  private final Map<Integer, Session> bySerial = new HashMap<>();
  /// Sessions by number; null for a free number.
  private final List<@Nullable Session> numbers = new ArrayList<>();
  private final List<Integer> free = new ArrayList<>();
  private final SessionRows rows = new SessionRows();
  /// Lookup of its session that used a row last.
  private final IntColumn lookups = new IntColumn();
  /// Serial of another session that used a row; [#ANY] for one that is not known; 0 for none.
  private final IntColumn others = new IntColumn();
  private final RowHeap ended = new RowHeap();
  private final RowHeap forgotten = new RowHeap();
  private final List<RowHeap> kept = new ArrayList<>();
  private final RowHeap aboveShare = new RowHeap();
  private final RowHeap expiry = new RowHeap();
  private int lastSerial;
  private long keptRows;
  private long refused;
  private int lentKeys;
  private @Nullable Session current;

  /// A session that the order knows.
  private static final class Session {
    final SessionId id;
    final int number;
    final int serial;
    int priority = SessionUse.DEFAULT_PRIORITY;
    @Nullable Duration keep;
    SessionState state = SessionState.ACTIVE;
    boolean isKept;
    long last;
    int lookup;
    /// Keys of rows that other sessions have used since, in the order in which they left; null for none.
    @Nullable Set<BlockKey> lent;

    Session(SessionId id, int number, int serial) {
      this.id = id;
      this.number = number;
      this.serial = serial;
    }
  }

  SessionOrder(SpaceId space, long capacity) {
    this.common = new ScoreOrder(new ReuseScore(EvictedUses.of(space, capacity)));
    this.capacity = capacity;
    for (int i = 0; i <= SessionUse.MOST_PRIORITY; i++) {
      kept.add(new RowHeap());
    }
  }

  /// Bounds the sessions, by the time of `clock`, in nanoseconds. Only while the order is empty.
  public void bounds(SessionBounds given, LongSupplier clock) {
    bounds = requireNonNull(given, "given");
    nanos = requireNonNull(clock, "clock");
  }

  // Sessions

  /// References from now on are of the session of `use`, which is active; null for requests without a session. If there
  /// are as many sessions as may be, one that has ended or is forgotten gives way; if there is none, the references are
  /// of no session.
  ///
  /// @param isLookup whether the request names its whole prefix
  public void begin(@Nullable SessionUse use, boolean isLookup) {
    forgetExpired();
    current = use == null ? null : known(use.session());
    if (current == null || use == null) {
      return;
    }
    Session session = current;
    leaveHeaps(session); // under its old priority
    session.priority = use.priority();
    session.keep = use.keep() == null ? session.keep : use.keep();
    session.state = SessionState.ACTIVE;
    session.last = common.now();
    session.lookup += isLookup ? 1 : 0;
    keep(session);
  }

  /// The request that [#begin] began is over: references are of no session.
  public void finish() {
    current = null;
  }

  /// A client says that the session of `use` is in `state`.
  ///
  /// @return false if the session is not known
  public boolean state(SessionUse use, SessionState state) {
    if (state == SessionState.ACTIVE) {
      begin(use, false);
      finish();
      return sessions.containsKey(use.session());
    }
    forgetExpired();
    Session session = sessions.get(use.session());
    if (session == null) {
      return false;
    }
    leaveHeaps(session);
    session.priority = use.priority();
    session.keep = use.keep() == null ? session.keep : use.keep();
    session.state = requireNonNull(state, "state");
    if (state == SessionState.ENDED) {
      ended.put(session.number, 0);
      forgetIfEmpty(session);
    } else {
      keep(session);
    }
    return true;
  }

  /// The state of `id`; null if the session is not known.
  public @Nullable SessionState state(SessionId id) {
    Session session = sessions.get(id);
    return session == null ? null : session.state;
  }

  /// Keys of rows that `id` used, and that other sessions have used since. Some of the keys may be gone.
  public List<BlockKey> lent(SessionId id) {
    Session session = sessions.get(id);
    return session == null || session.lent == null ? List.of() : List.copyOf(session.lent);
  }

  /// Reads the rows of `id` in the order of their use.
  ///
  /// @param after row of the session after which to begin; [KeyTable#NONE] for the first
  /// @param most rows to read
  /// @return the last row read; [KeyTable#NONE] if there are no others after those read
  public int rows(SessionId id, int after, int most, IntConsumer reader) {
    Session session = sessions.get(id);
    if (session == null || rows.size(session.number) == 0) {
      return KeyTable.NONE;
    }
    int first = rows.first(session.number);
    int row = after == KeyTable.NONE ? first : rows.after(after);
    if (after != KeyTable.NONE && row == first) {
      return KeyTable.NONE;
    }
    for (int read = 1; true; read++) {
      reader.accept(row);
      int next = rows.after(row);
      if (next == first || read >= most) {
        return next == first ? KeyTable.NONE : row;
      }
      row = next;
    }
  }

  /// Whether `row` is of `id`.
  public boolean isOf(SessionId id, int row) {
    Session session = sessions.get(id);
    return session != null && rows.owner(row) == session.number;
  }

  /// What a request would say of the session of `row` to have the row kept as it is; null if the row is of no session
  /// that is kept. A session that pauses states the time that it has for it.
  public @Nullable SessionUse keeping(int row) {
    int owner = rows.owner(row);
    Session session = owner == KeyTable.NONE ? null : session(owner);
    if (session == null || !session.isKept || expiry.priority(owner) <= nanos.getAsLong()) {
      return null;
    }
    Duration keep = session.keep == null && session.state == SessionState.PAUSED ? bounds.pausedKeep() : session.keep;
    return new SessionUse(session.id, session.priority, keep);
  }

  private void lend(Session session, BlockKey key) {
    Set<BlockKey> lent = session.lent == null ? new LinkedHashSet<>() : session.lent;
    session.lent = lent;
    if (lent.size() < MOST_LENT && lentKeys < MOST_LENT_IN_ALL && lent.add(key)) {
      lentKeys++;
    }
  }

  private void takeBack(Session session, BlockKey key) {
    if (session.lent != null && session.lent.remove(key)) {
      lentKeys--;
    }
  }

  /// Number of sessions that are known.
  public int sessions() {
    return sessions.size();
  }

  /// Number of requests whose session was refused for too many sessions.
  public long refused() {
    return refused;
  }

  /// Rows of kept sessions.
  public long keptRows() {
    return keptRows;
  }

  private @Nullable Session known(SessionId id) {
    Session session = sessions.get(id);
    if (session != null) {
      return session;
    }
    if (sessions.size() >= bounds.mostSessions() && !dropOne()) {
      refused++;
      return null;
    }
    int number = free.isEmpty() ? numbers.size() : free.removeLast();
    if (number == numbers.size()) {
      numbers.add(null);
    }
    session = new Session(id, number, ++lastSerial);
    numbers.set(number, session);
    sessions.put(id, session);
    bySerial.put(session.serial, session);
    return session;
  }

  /// Forgets a session that has ended, or whose time is over; its rows are of no session then.
  private boolean dropOne() {
    RowHeap heap = ended.size() > 0 ? ended : forgotten;
    if (heap.size() == 0) {
      return false;
    }
    Session session = session(heap.first());
    while (rows.size(session.number) > 0) {
      int row = rows.first(session.number);
      rows.remove(row);
      others.set(row, ANY);
      common.consider(row, 0);
    }
    forgetIfEmpty(session);
    return true;
  }

  private Session session(int number) {
    return requireNonNull(numbers.get(number), "a number in use");
  }

  /// Enters `session`, which is in no heap, among the kept ones.
  private void keep(Session session) {
    Duration own = session.state == SessionState.PAUSED ? bounds.pausedKeep() : bounds.activeKeep();
    Duration time = session.keep == null ? own : session.keep;
    session.isKept = true;
    keptRows += rows.size(session.number);
    kept.get(session.priority).put(session.number, session.last);
    expiry.put(session.number, nanos.getAsLong() + time.toNanos());
    reviewShare(session);
  }

  private void reviewShare(Session session) {
    boolean isAbove = session.isKept && rows.size(session.number) > Math.max(1, bounds.share() * capacity);
    if (isAbove && !aboveShare.has(session.number)) {
      aboveShare.put(session.number, session.last);
    } else if (!isAbove) {
      leave(aboveShare, session.number);
    }
  }

  private void leaveHeaps(Session session) {
    if (session.isKept) {
      keptRows -= rows.size(session.number);
      session.isKept = false;
    }
    leave(kept.get(session.priority), session.number);
    leave(expiry, session.number);
    leave(aboveShare, session.number);
    leave(ended, session.number);
    leave(forgotten, session.number);
  }

  private static void leave(RowHeap heap, int number) {
    if (heap.has(number)) {
      heap.remove(number);
    }
  }

  private void forgetExpired() {
    long now = nanos.getAsLong();
    while (expiry.size() > 0 && expiry.priority(expiry.first()) <= now) {
      Session session = session(expiry.first());
      if (session == current) {
        return; // its request is under way
      }
      leaveHeaps(session);
      forgotten.put(session.number, session.last);
      forgetIfEmpty(session);
    }
  }

  private void forgetIfEmpty(Session session) {
    if (rows.size(session.number) == 0 && !session.isKept && session != current) {
      leaveHeaps(session);
      lentKeys -= session.lent == null ? 0 : session.lent.size();
      sessions.remove(session.id);
      bySerial.remove(session.serial);
      numbers.set(session.number, null);
      free.add(session.number);
    }
  }

  // References

  @Override
  public void inserted(int row, BlockKey key, int position) {
    common.countNew(row, key);
    others.set(row, 0);
    if (current == null) {
      common.consider(row, position);
    } else {
      takeBack(current, key);
      join(current, row);
    }
  }

  @Override
  public void touched(int row, BlockKey key, int position) {
    common.countAgain(row);
    int owner = rows.owner(row);
    Session session = owner == KeyTable.NONE ? null : session(owner);
    if (current == null) {
      others.set(row, ANY);
      if (session == null) {
        common.consider(row, position);
      } else if (!session.isKept) {
        depart(row, session);
        common.consider(row, position);
      }
      return;
    }
    if (session == null) {
      common.ignore(row);
      others.set(row, ANY);
    } else {
      if (session != current) {
        others.set(row, session.serial);
        lend(session, key);
      }
      depart(row, session);
    }
    takeBack(current, key);
    join(current, row);
  }

  private void join(Session session, int row) {
    session.last = common.now();
    lookups.set(row, session.lookup);
    rows.addLast(session.number, row);
    joined(session);
  }

  private void joined(Session session) {
    if (session.isKept) {
      keptRows++;
      reviewShare(session);
    }
  }

  /// Takes `row` from `session`.
  private void depart(int row, Session session) {
    rows.remove(row);
    if (session.isKept) {
      keptRows--;
      reviewShare(session);
    }
    forgetIfEmpty(session);
  }

  // Victims

  @Override
  public int victim(IntPredicate mayLeave) {
    forgetExpired();
    int victim = firstOf(ended, mayLeave);
    if (victim == KeyTable.NONE && keptRows > bounds.sessionsShare() * capacity) {
      victim = ofKept(mayLeave);
    }
    victim = victim == KeyTable.NONE ? ofRest(mayLeave) : victim;
    return victim == KeyTable.NONE ? ofKept(mayLeave) : victim;
  }

  /// The lowest score of a row without a session, of a forgotten session, and of one above its share.
  private int ofRest(IntPredicate mayLeave) {
    int other = firstOf(forgotten, mayLeave); // may make candidates of rows, so it comes first
    int best = lower(common.victim(mayLeave), other);
    return lower(best, firstOf(aboveShare, mayLeave));
  }

  private int lower(int row, int other) {
    if (row == KeyTable.NONE || other == KeyTable.NONE) {
      return row == KeyTable.NONE ? other : row;
    }
    return value(other) < value(row) ? other : row;
  }

  /// The score of a row; one of a session sits as deep as the session has rows.
  private long value(int row) {
    int owner = rows.owner(row);
    return owner == KeyTable.NONE ? common.priority(row) : common.value(row, rows.size(owner));
  }

  private int ofKept(IntPredicate mayLeave) {
    int tried = 0;
    for (RowHeap heap : kept) {
      for (int left = heap.size(); left > 0 && tried < MOST_TRIED; left--) {
        int victim = ofSession(session(heap.first()), mayLeave);
        if (victim != KeyTable.NONE) {
          return victim;
        }
        heap.postpone(heap.first());
        tried++;
      }
    }
    return KeyTable.NONE;
  }

  /// A victim of the first session of `heap` that has one; a session without one becomes less likely.
  private int firstOf(RowHeap heap, IntPredicate mayLeave) {
    for (int tried = 0; heap.size() > 0 && tried < MOST_TRIED; tried++) {
      Session session = session(heap.first());
      int victim = ofSession(session, mayLeave);
      if (victim != KeyTable.NONE) {
        return victim;
      }
      if (heap.size() > 0 && heap.first() == session.number) {
        if (heap.size() == 1) {
          return KeyTable.NONE;
        }
        heap.postpone(session.number);
      }
    }
    return KeyTable.NONE;
  }

  private int ofSession(Session session, IntPredicate mayLeave) {
    if (rows.size(session.number) == 0) {
      return KeyTable.NONE;
    }
    int first = rows.first(session.number);
    if (session.isKept && lookups.get(first) + DEAD_LOOKUPS < session.lookup && mayLeave.test(first)) {
      return first;
    }
    int most = Math.min(rows.size(session.number), MOST_KEPT);
    int row = rows.last(session.number);
    for (int i = 0; i < most; i++) {
      int before = rows.before(row);
      if (!session.isKept && others.get(row) != 0) {
        passOn(row, session);
      } else if (mayLeave.test(row)) {
        return row;
      }
      row = before;
    }
    forgetIfEmpty(session);
    return KeyTable.NONE;
  }

  /// Gives `row`, which others use, too, to a session that is kept, or to the rows of no session.
  private void passOn(int row, Session session) {
    Session other = bySerial.get(others.get(row));
    rows.remove(row);
    if (other != null && other.isKept && other != session) {
      lookups.set(row, other.lookup);
      rows.addFirst(other.number, row);
      joined(other);
    } else {
      common.consider(row, 0);
    }
  }

  @Override
  public void evicted(int row, BlockKey key) {
    leaveSession(row);
    common.evicted(row, key);
  }

  @Override
  public void removed(int row) {
    leaveSession(row);
    common.removed(row);
  }

  private void leaveSession(int row) {
    int owner = rows.owner(row);
    if (owner != KeyTable.NONE) {
      depart(row, session(owner));
    }
  }

  @Override
  public void clear() {
    common.clear();
    sessions.clear();
    bySerial.clear();
    numbers.clear();
    free.clear();
    rows.clear();
    lookups.clear();
    others.clear();
    ended.clear();
    forgotten.clear();
    kept.forEach(RowHeap::clear);
    aboveShare.clear();
    expiry.clear();
    keptRows = 0;
    lentKeys = 0;
    current = null;
  }
}
