package io.penstock.stack.read;

import io.penstock.block.BlockScope;
import io.penstock.block.IncompleteBlockException;
import io.penstock.block.SliceShape;
import io.penstock.check.Checks;
import io.penstock.stack.decision.Decisions;
import io.penstock.stack.decision.DeferredActions;
import io.penstock.stack.decision.LeaseItem;
import io.penstock.stack.decision.Pending;
import io.penstock.stack.decision.Resident;
import io.penstock.stack.hold.HeldLease;
import io.penstock.stack.hold.StackHolds;
import io.penstock.stack.shape.StackShape;
import io.penstock.tier.DemandLoop;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.LeasedWindow;
import io.penstock.tier.Presence;
import io.penstock.tier.ReadyWindow;
import io.penstock.tier.TierHolds.LeaseExpiredException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscriber;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;

/// A lease of a `TierStack`: the decision on its keys, the items that are ready for its reader, and the blocks for
/// which it waits.
///
/// [StackLeases] fills it in the decision that makes it. Later, methods that take [DeferredActions] are used in
/// decisions; the others make their own.
public final class StackLease extends Lease implements Pending.Reader, DeferredActions.Reader {
  /// The open leases, of which this is one.
  interface Owner {
    /// Opens the stream of the windows of `lease`.
    DemandLoop open(StackLease lease, Subscriber<? super LeasedWindow> subscriber, SliceShape shape, BlockScope scope);

    /// Removes `lease`, which waited for `awaited`, and revokes its admissions that no writer took over.
    void ended(StackLease lease, List<Pending> awaited, DeferredActions after);
  }

  private final Decisions decisions;
  private final StackShape shape;
  private final StackHolds holds;
  private final LeaseBounds bounds;
  private final Owner owner;
  private final int keys;
  private final @Nullable HeldLease under;
  private final BitSet hits = new BitSet();
  private final BitSet found = new BitSet();
  private final BitSet admitted = new BitSet();
  private final BitSet awaited = new BitSet();
  /// Items to hand out, at most one a key. In decisions only.
  private final ArrayDeque<LeaseItem> ready = new ArrayDeque<>();
  /// Number of items that hold their block. In decisions only.
  private int held;
  /// Number of keys that it admitted. In decisions only.
  private int admittedCount;
  /// Blocks being written for which this lease waits. In decisions only.
  private final Set<Pending> pending = new LinkedHashSet<>(0);
  private final AtomicBoolean subscribed = new AtomicBoolean();
  private volatile @Nullable DemandLoop windows;
  private volatile boolean verifies = true;

  /// The answer of [#take].
  ///
  /// @param ended whether the lease has handed out all items
  record Taken(List<LeaseItem> items, boolean ended, @Nullable Throwable failure) {}

  /// @param under the read lease that keeps the blocks; null if there is none. Its read was started
  StackLease(Decisions decisions, StackShape shape, StackHolds holds, LeaseBounds bounds, Owner owner, int keys,
      @Nullable HeldLease under) {
    this.under = under;
    this.decisions = decisions;
    this.shape = shape;
    this.holds = holds;
    this.bounds = bounds;
    this.owner = owner;
    this.keys = keys;
  }

  @Override
  public Presence hits() {
    return Presence.of(keys, hits);
  }

  @Override
  public Presence found() {
    return Presence.of(keys, found);
  }

  @Override
  public Presence admitted() {
    return Presence.of(keys, admitted);
  }

  @Override
  public Presence awaited() {
    return Presence.of(keys, awaited);
  }

  @Override
  public Lease unverified() {
    verifies = false;
    return this;
  }

  /// Whether blocks in memory are compared with their checksums.
  boolean verifies() {
    return verifies;
  }

  /// Records the key at `position` as a hit.
  void hit(int position) {
    hits.set(position);
  }

  /// Records the key at `position` as found; its item is ready.
  void find(int position, Resident block) {
    found.set(position);
    boolean kept = under != null && under.holds(block);
    add(!kept && bounds.mayHold(held) ? LeaseItem.of(position, block) : new LeaseItem.Named(position, block.key()));
  }

  private void add(LeaseItem item) {
    ready.add(item);
    count(item, 1);
  }

  private void count(LeaseItem item, int change) {
    if (!(item instanceof LeaseItem.Named)) {
      held += change;
      bounds.hold(change);
    }
  }

  /// Records the key at `position` as admitted; the lease waits for `block`.
  void admit(int position, Pending block) {
    admitted.set(position);
    admittedCount++;
    bounds.admitted(1);
    waitFor(position, block);
  }

  /// Records the key at `position` as awaited; the lease waits for `block`, which another caller writes.
  void await(int position, Pending block) {
    awaited.set(position);
    waitFor(position, block);
  }

  private void waitFor(int position, Pending block) {
    pending.add(block);
    block.await(this, position);
  }

  int admittedCount() {
    return admittedCount;
  }

  int hitCount() {
    return hits.cardinality();
  }

  @Override
  public void serve(Pending block, LeaseItem item, DeferredActions after) {
    if (bounds.mayHold(held)) {
      add(item);
    } else {
      item.giveUp(after);
      add(new LeaseItem.Named(item.position(), block.key()));
    }
    abandon(block, after);
  }

  @Override
  public void abandon(Pending block, DeferredActions after) {
    pending.remove(block);
    after.signal(this);
  }

  @Override
  public Flux<List<LeasedBlock>> windows(int maxBlocks, BlockScope scope) {
    Checks.positive("maxBlocks", maxBlocks);
    SliceShape whole = new SliceShape(maxBlocks, Integer.MAX_VALUE, SliceShape.Order.BLOCK_FIRST, 0);
    Flux<LeasedWindow> windows = slicedWindows(whole, scope);
    Flux<List<LeasedBlock>> blocks = shape.hasStores()
        ? windows.concatMap(window -> window.blocks(scope), 1)
            .onErrorMap(Exceptions::isMultiple, errors -> Exceptions.unwrapMultiple(errors).getFirst())
        : windows.map(window -> ((ReadyWindow) window).handOver(scope));
    return under == null ? blocks : blocks.doOnNext(window -> requireLive());
  }

  @Override
  public Flux<LeasedWindow> slicedWindows(SliceShape slices, BlockScope scope) {
    return Flux.from(subscriber -> {
      if (!subscribed.compareAndSet(false, true)) {
        Operators.error(subscriber, new IllegalStateException("lease must be read once (was read before)"));
        return;
      }
      DemandLoop stream = owner.open(this, subscriber, slices, scope);
      windows = stream;
      subscriber.onSubscribe(stream);
      stream.open();
    });
  }

  private void requireLive() {
    LeaseExpiredException expired = expiry();
    if (expired != null) {
      throw expired;
    }
  }

  /// Signals to the reader, if there is one, that an item is ready or that no more items will come. Outside a decision.
  @Override
  public void signal() {
    DemandLoop stream = windows;
    if (stream != null) {
      stream.drain();
    }
  }

  /// Takes up to `max` items that are ready.
  Taken take(int max) {
    return decisions.answer(after -> {
      if (decisions.isClosed() && !isClosed()) {
        return new Taken(List.of(), false, shape.closed());
      }
      if (expiry() != null && !isClosed()) {
        return new Taken(List.of(), false, expiry());
      }
      List<LeaseItem> items = poll(bounds.mayTake(max), after);
      if (items.isEmpty() && max > 0 && !ready.isEmpty()) {
        return new Taken(List.of(), false, gone(ready.element()));
      }
      return new Taken(items, ready.isEmpty() && pending.isEmpty() && !isClosed(), null);
    });
  }

  /// The error of a read whose read lease has ended; null if it lives, or there is none.
  @Nullable LeaseExpiredException expiry() {
    return under != null && under.isOver() ? new LeaseExpiredException(under.id()) : null;
  }

  /// Counts the blocks of `window` among those that windows hold, until it is over, if there is a bound on these.
  void hold(LeasedWindow window) {
    if (under != null) {
      window.checkedBy(this::requireLive);
    }
    if (!bounds.areBounded()) {
      return;
    }
    decisions.decide(after -> bounds.hold(window.size()));
    window.whenOver(() -> decisions.decide(after -> bounds.hold(-window.size())));
  }

  /// Takes up to `max` items from the front that have to be read from a store; none if the first is in memory.
  List<LeaseItem> takeStored(int max) {
    return decisions.answer(after -> {
      List<LeaseItem> stored = new ArrayList<>();
      while (stored.size() < max && !ready.isEmpty() && !decisions.isClosed()) {
        LeaseItem item = bounds.held(ready.element(), after);
        if (item == null) {
          break;
        }
        count(ready.remove(), -1);
        if (item.isInMemory()) {
          ready.addFirst(item);
          count(item, 1);
          break;
        }
        stored.add(item);
      }
      return stored;
    });
  }

  /// Takes up to `max` items, up to the first whose block is gone.
  private List<LeaseItem> poll(int max, DeferredActions after) {
    List<LeaseItem> taken = new ArrayList<>(Math.min(max, ready.size()));
    while (taken.size() < max && !ready.isEmpty()) {
      LeaseItem item = bounds.held(ready.element(), after);
      if (item == null) {
        break;
      }
      count(ready.remove(), -1);
      taken.add(item.redeemed(after));
    }
    return taken;
  }

  private IncompleteBlockException gone(LeaseItem item) {
    return new IncompleteBlockException(((LeaseItem.Named) item).key(), 0, shape.layout().granules());
  }

  /// Puts the items of [#takeStored] back at the front.
  void putBack(List<LeaseItem> items) {
    decisions.decide(after -> {
      if (isClosed()) {
        items.forEach(item -> item.giveUp(after));
      } else {
        items.reversed().forEach(ready::addFirst);
        items.forEach(item -> count(item, 1));
      }
    });
  }

  /// Gives up items that will not be read.
  void giveUp(List<LeaseItem> items) {
    decisions.decide(after -> items.forEach(item -> item.giveUp(after)));
  }

  @Override
  protected void free() {
    decisions.decide(this::end);
    signal();
  }

  /// Gives up the items not handed out, and the admissions that no writer took over.
  private void end(DeferredActions after) {
    ready.forEach(item -> item.giveUp(after));
    ready.clear();
    bounds.hold(-held);
    held = 0;
    if (under != null) {
      holds.endRead(under);
    }
    bounds.admitted(-admittedCount);
    admittedCount = 0;
    pending.forEach(block -> block.forget(this));
    owner.ended(this, List.copyOf(pending), after);
    pending.clear();
  }
}
