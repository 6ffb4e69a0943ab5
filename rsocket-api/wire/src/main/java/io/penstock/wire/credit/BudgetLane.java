package io.penstock.wire.credit;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.budget.BudgetExhaustedException;
import io.penstock.check.Checks;
import io.penstock.operator.Failures;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A share of a budget for one party: bytes of the share are taken of the budget too, never more than the share.
///
/// A *fair* lane is a part of another lane: a user's part of the node, an address's part of a user, a connection's part
/// of an address. A lane that has bytes already takes more only if it then has at most `greed / n` times the room of
/// the whole, where `n` parts have bytes. So `n` parts that keep their bytes leave `1 / (n + 1)` of the room free with
/// a greed of 1, in whatever order they came, and a newcomer finds bytes. (A bound that did not depend on `n` would
/// leave `1 / 2^n`.)
///
/// A lane of a connection knows its streams that stand still. While another connection finds nothing, [Reclaim] ends
/// some of them: those of the party that has most.
///
/// The party's own waiters queue here, first come, first served; one of them at a time waits for the budget. So parties
/// take turns at the budget, however many waiters each has.
public final class BudgetLane implements Budget {
  private final String name;
  private final Budget budget;
  private final long share;
  private final int maxWaiters;
  /// The lane of which this one is a fair part; null for a lane that is not fair.
  private final @Nullable BudgetLane whole;
  private final int greed;
  private final Reclaim reclaim;
  /// Streams of the party that stand still; empty for a lane that has parts.
  private final List<IdleStreams> idle;
  private volatile long nextLookMillis = Long.MIN_VALUE;
  /// Fair parts of this lane that wait until more of it is free.
  @GuardedBy("this") private final Set<BudgetLane> parts = new LinkedHashSet<>();
  /// Fair parts of this lane that have bytes.
  @GuardedBy("this") private final Set<BudgetLane> holders = new LinkedHashSet<>();
  @GuardedBy("this") private final ArrayDeque<Waiter> queue = new ArrayDeque<>();
  @GuardedBy("this") private long inUse;
  @GuardedBy("this") private long returned;
  /// Whether the party had bytes, when that was last looked at.
  @GuardedBy("this") private boolean held;
  /// The first of the queue, whose bytes count here already, while it waits for the budget.
  @GuardedBy("this") private @Nullable Waiter first;

  /// @param name named in errors
  /// @param share most bytes of `budget` that this party may have
  /// @param maxWaiters longest queue
  public BudgetLane(String name, Budget budget, long share, int maxWaiters) {
    this(name, budget, share, maxWaiters, Reclaim.none());
  }

  /// @param reclaim takes bytes back from idle streams of the parts
  public BudgetLane(String name, Budget budget, long share, int maxWaiters, Reclaim reclaim) {
    this(name, budget, share, maxWaiters, null, 1, reclaim, List.of());
  }

  private BudgetLane(String name, Budget budget, long share, int maxWaiters, @Nullable BudgetLane whole, int greed,
      Reclaim reclaim, List<IdleStreams> idle) {
    this.greed = greed;
    this.name = name;
    this.budget = budget;
    this.whole = whole;
    this.reclaim = reclaim;
    this.idle = idle;
    this.share = Checks.positive("share", share);
    this.maxWaiters = Checks.positive("maxWaiters", maxWaiters);
  }

  /// A fair lane of this one.
  ///
  /// @param greed units that it may have for each unit of room while no other part has any
  /// @param idle streams of a connection that hold bytes of the lane while they stand still
  public BudgetLane part(String name, long share, int maxWaiters, int greed, IdleStreams... idle) {
    return new BudgetLane(name, this, share, maxWaiters, this, greed, reclaim, List.of(idle));
  }

  @Override
  public boolean tryAcquire(long bytes) {
    if (!takeIfFree(bytes)) {
      return false;
    }
    boolean taken = false;
    try {
      taken = budget.tryAcquire(bytes);
    } finally { // a closed budget throws
      if (!taken) {
        giveUp(bytes);
      }
    }
    return taken;
  }

  /// Takes as much of `most` as is fair: at most half of what the lane may still take, so that it can take once more.
  /// Takes at least one if the lane has nothing and there is one.
  ///
  /// @return units taken; 0 if the lane has to wait
  public long takeUpTo(long most) {
    long fair = Math.max(Math.ceilDiv(fairRoom(), 2), inUse() == 0 ? 1 : 0);
    for (long take = Math.min(most, Math.min(fair, free())); take > 0; take /= 2) {
      if (tryAcquire(take)) {
        return take;
      }
    }
    return 0;
  }

  @Override
  public Place acquire(long bytes, Runnable granted, Consumer<? super RuntimeException> refused) {
    Waiter waiter = new Waiter(bytes, granted, refused);
    enter(waiter);
    serve();
    reclaim.awaited(this);
    return waiter;
  }

  @Override
  public boolean reclaim(long bytes) {
    return inUse() == 0 && reclaim.relieve(this, bytes);
  }

  /// Counts first, on all levels, and serves then: each waiter is looked at once.
  @Override
  public void release(long bytes) {
    BudgetLane top = this;
    top.count(bytes, bytes);
    for (BudgetLane next = whole; next != null; next = next.whole) {
      top = next;
      top.count(bytes, bytes);
    }
    top.budget.release(bytes);
    for (BudgetLane lane = this; lane != null; lane = lane.whole) {
      lane.serve();
    }
    top.waitingParts().forEach(BudgetLane::retry);
  }

  public String name() {
    return name;
  }

  /// Maximum bytes of this lane.
  public long share() {
    return share;
  }

  /// Bytes taken and not given back.
  public synchronized long inUse() {
    return inUse;
  }

  private synchronized boolean takeIfFree(long bytes) {
    boolean free = queue.isEmpty() && mayTake(bytes);
    if (free) {
      take(bytes);
    }
    return free;
  }

  @GuardedBy("this") private void take(long bytes) {
    if (inUse == 0 && whole != null) {
      whole.holds(this, true);
    }
    inUse += bytes;
  }

  @GuardedBy("this") private void giveBack(long bytes) {
    inUse -= bytes;
    if (inUse == 0 && whole != null) {
      whole.holds(this, false);
    }
  }

  private synchronized void holds(BudgetLane part, boolean now) {
    if (now) {
      holders.add(part);
    } else {
      holders.remove(part);
    }
  }

  /// Parts that have bytes, if `more` has some.
  private synchronized int holdersWith(BudgetLane more) {
    return holders.size() + (holders.contains(more) ? 0 : 1);
  }

  /// Parts that have bytes, the one with most bytes first.
  List<BudgetLane> largestHolders() {
    List<Holding> now = new ArrayList<>();
    for (BudgetLane part : holders()) {
      now.add(new Holding(part, part.inUse()));
    }
    now.sort(Comparator.comparingLong(Holding::bytes).reversed());
    return now.stream().map(Holding::part).toList();
  }

  private record Holding(BudgetLane part, long bytes) {}

  private synchronized List<BudgetLane> holders() {
    return List.copyOf(holders);
  }

  /// Whether it is time to look for idle streams of others again.
  boolean mayLook(long nowMillis) {
    return nowMillis >= nextLookMillis;
  }

  /// A look found no idle stream; the next one is due at `millis`.
  void foundNothing(long millis) {
    nextLookMillis = millis;
  }

  /// The lane of which this one is a fair part; null at the top.
  @Nullable BudgetLane whole() {
    return whole;
  }

  /// Streams of the party that stand still; empty for a lane that has parts.
  List<IdleStreams> idle() {
    return idle;
  }

  /// Bytes for which the first waiter waits; 0 if there is none, or if the party has bytes already.
  synchronized long wanted() {
    Waiter next = queue.peek();
    return next == null || hasBytes() ? 0 : next.bytes;
  }

  /// Whether the party could take `bytes` now.
  boolean couldTake(long bytes) {
    synchronized (this) {
      if (!mayTake(bytes)) {
        return false;
      }
    }
    return whole == null ? budget.free() >= bytes : whole.couldTake(bytes);
  }

  @GuardedBy("this") private boolean mayTake(long bytes) {
    return bytes <= share - inUse && isFair(bytes);
  }

  @GuardedBy("this") private boolean isFair(long bytes) {
    if (whole == null || isNewcomer()) {
      return true;
    }
    int parties = whole.holdersWith(this);
    long had = parties == 1 ? inUse : inUse + bytes; // alone, it may exceed its part by one step: a budget may be small
    return had * parties <= greed * whole.room();
  }

  /// Whether the party has nothing. One whose streams were ended because they stood still is none until it moves bytes.
  @GuardedBy("this") private boolean isNewcomer() {
    if (inUse != 0) {
      return false;
    }
    for (IdleStreams streams : idle) {
      if (streams.isSuspect()) {
        return false;
      }
    }
    return true;
  }

  /// Bytes that the parts of this lane may still take together.
  private long room() {
    if (whole == null) {
      return free();
    }
    long left = whole.room();
    synchronized (this) {
      return inUse == 0 ? Math.min(left, share) : fair(left);
    }
  }

  /// Bytes that this lane may still take and leave its part to others.
  private long fairRoom() {
    if (whole == null) {
      return free();
    }
    long left = whole.room();
    synchronized (this) {
      return fair(left);
    }
  }

  @GuardedBy("this") private long fair(long left) {
    int parties = whole == null ? 1 : whole.holdersWith(this);
    long fair = (greed * left - parties * inUse) / (parties + greed);
    return Math.clamp(fair, 0, Math.max(0, share - inUse));
  }

  @Override
  public long free() {
    long left = budget.free();
    synchronized (this) {
      return Math.min(left, share - inUse);
    }
  }

  private synchronized void enter(Waiter waiter) {
    if (waiter.bytes > share) {
      throw new IllegalArgumentException(name + ": bytes must be <= share " + share + " (was " + waiter.bytes + ")");
    }
    if (queue.size() >= maxWaiters) {
      throw new BudgetExhaustedException(name, waiter.bytes, share - inUse, maxWaiters);
    }
    queue.add(waiter);
  }

  @Override
  public synchronized long returned() {
    return returned;
  }

  /// Gives up bytes that the budget did not have.
  private void giveUp(long bytes) {
    count(bytes, 0);
    serve();
    retryOthers();
  }

  /// @param back part of `bytes` that the party had, and gives back
  private void count(long bytes, long back) {
    List<Waiter> told;
    synchronized (this) {
      giveBack(bytes);
      returned += back;
      told = toldOfHolder();
    }
    told.forEach(Waiter::holderChanged);
  }

  /// Serves the other parts of the whole: each may have a larger part now.
  private void retryOthers() {
    if (whole != null) {
      whole.retry();
    }
  }

  /// Whether the party has bytes, beside those with which the first of the queue waits for the budget.
  @GuardedBy("this") private boolean hasBytes() {
    return inUse > (first == null ? 0 : first.bytes);
  }

  /// Waiters whose bytes have another holder now.
  @GuardedBy("this") private List<Waiter> toldOfHolder() {
    boolean before = held;
    held = hasBytes();
    return before == held || queue.isEmpty() ? List.of() : List.copyOf(queue);
  }

  /// Serves this lane and its parts that wait, because more may be free.
  private void retry() {
    serve();
    waitingParts().forEach(BudgetLane::retry);
  }

  /// Takes the parts that wait; each waits again if there is still too little for it.
  private synchronized List<BudgetLane> waitingParts() {
    if (parts.isEmpty()) {
      return List.of();
    }
    List<BudgetLane> waiting = List.copyOf(parts);
    parts.clear();
    return waiting;
  }

  /// Tries `part` again when more of this lane, or of its parent, is free.
  private void await(BudgetLane part) {
    synchronized (this) {
      parts.add(part);
    }
    if (whole != null) {
      whole.await(this);
    }
  }

  /// Sends the first of the queue to the budget, unless one is there already.
  private void serve() {
    Waiter next = hasWaiters() ? next() : null;
    if (next != null) {
      try {
        next.waitsAt(budget.acquire(next.bytes, () -> arrived(next), refusal -> refused(next, refusal)));
      } catch (RuntimeException | Error e) { // the budget is full or closed, or the grant threw
        refused(next, Failures.unchecked(e));
      }
    }
  }

  private synchronized boolean hasWaiters() {
    return !queue.isEmpty();
  }

  private @Nullable Waiter next() {
    Waiter next = takeNext();
    if (next == null && whole != null && isUnfair()) {
      whole.await(this);
      next = takeNext(); // bytes may have come back before the lane was told to wait for them
    }
    return next;
  }

  private synchronized @Nullable Waiter takeNext() {
    Waiter next = queue.peek();
    if (first != null || next == null || !mayTake(next.bytes)) {
      return null;
    }
    take(next.bytes);
    first = next;
    return next;
  }

  /// Whether the first of the queue waits for more of the budget to become free.
  private synchronized boolean isUnfair() {
    Waiter next = queue.peek();
    return first == null && next != null && !isFair(next.bytes);
  }

  /// The budget granted the bytes of `waiter`.
  private void arrived(Waiter waiter) {
    boolean wanted;
    List<Waiter> told;
    synchronized (this) {
      first = null;
      wanted = queue.remove(waiter);
      if (!wanted) {
        giveBack(waiter.bytes);
      }
      told = toldOfHolder();
    }
    told.forEach(Waiter::holderChanged);
    try {
      if (wanted) {
        waiter.granted.run();
      } else {
        budget.release(waiter.bytes);
      }
    } finally { // a grant that throws stops none behind it
      serve();
    }
  }

  /// The budget has no place for `waiter`, and so none for those behind it.
  private void refused(Waiter waiter, RuntimeException refusal) {
    List<Waiter> waiting;
    synchronized (this) {
      if (first != waiter) { // it was granted its bytes: its grant threw this
        throw refusal;
      }
      first = null;
      giveBack(waiter.bytes);
      waiting = List.copyOf(queue);
      queue.clear();
    }
    retryOthers();
    waiting.forEach(one -> one.refused.accept(refusal));
  }

  /// True if `waiter` left before its bytes were granted.
  private boolean leave(Waiter waiter) {
    boolean left;
    boolean wasFirst;
    Place place;
    synchronized (this) {
      left = queue.remove(waiter);
      wasFirst = first == waiter;
      place = waiter.place;
    }
    if (left && wasFirst && place != null && place.cancel()) { // else the grant comes, and is given back
      synchronized (this) {
        first = null;
        giveBack(waiter.bytes);
      }
    }
    if (left) {
      serve();
      retryOthers();
    }
    return left;
  }

  private final class Waiter implements Place {
    private final long bytes;
    private final Runnable granted;
    private final Consumer<? super RuntimeException> refused;
    /// Place in the queue of the budget; null before, and if the grant came at once.
    private volatile @Nullable Place place;
    private volatile @Nullable Runnable changed;

    Waiter(long bytes, Runnable granted, Consumer<? super RuntimeException> refused) {
      this.bytes = bytes;
      this.granted = granted;
      this.refused = refused;
    }

    void waitsAt(Place atBudget) {
      place = atBudget;
    }

    private void holderChanged() {
      Runnable told = changed;
      if (told != null) {
        told.run();
      }
    }

    @Override
    public Holder holder() {
      synchronized (BudgetLane.this) {
        return hasBytes() ? Holder.OWN : Holder.OTHERS;
      }
    }

    @Override
    public void onHolderChange(Runnable changed) {
      this.changed = changed;
      synchronized (BudgetLane.this) {
        held = hasBytes();
      }
    }

    @Override
    public boolean cancel() {
      return leave(this);
    }
  }
}
