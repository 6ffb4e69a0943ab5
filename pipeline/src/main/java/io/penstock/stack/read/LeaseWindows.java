package io.penstock.stack.read;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockScope;
import io.penstock.block.SlabArena.ArenaClosedException;
import io.penstock.block.SliceShape;
import io.penstock.stack.decision.Decisions;
import io.penstock.stack.decision.LeaseItem;
import io.penstock.stack.decision.StackFigures;
import io.penstock.stack.move.Removals;
import io.penstock.stack.shape.StackShape;
import io.penstock.tier.DemandLoop;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.LeasedWindow;
import io.penstock.tier.ReadyWindow;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscriber;

/// The stream of the windows of one [StackLease], in order: no window overtakes one that waits for memory. The emitting
/// thread writes the fields; a cancel writes `done`, on any thread. Emits outside decisions only.
final class LeaseWindows extends DemandLoop {
  private final Decisions decisions;
  private final StackShape stack;
  private final StackFigures figures;
  private final Removals removals;
  private final WindowReads reads;
  private final StackLease lease;
  private final Subscriber<? super LeasedWindow> subscriber;
  private final SliceShape shape;
  private final BlockScope scope;
  private volatile boolean done;
  /// The next window, which waits for memory or for demand.
  private volatile @Nullable StoreWindow next;
  /// Whether `next` was started before there was demand for it.
  private volatile boolean prefetched;
  private boolean begun;

  LeaseWindows(Decisions decisions, StackShape stack, StackFigures figures, Removals removals, WindowReads reads,
      StackLease lease, Subscriber<? super LeasedWindow> subscriber, SliceShape shape,
      BlockScope scope) {
    this.decisions = decisions;
    this.stack = stack;
    this.figures = figures;
    this.removals = removals;
    this.reads = reads;
    this.lease = lease;
    this.subscriber = subscriber;
    // Transfer memory bounds a window that is read from stores; without stores all blocks are in memory
    int most = stack.hasStores() ? stack.options().transferBlocks() : Integer.MAX_VALUE;
    this.shape = shape.withWindowBlocks(Math.min(shape.windowBlocks(), most));
    this.scope = scope;
  }

  @Override
  public void cancel() {
    done = true;
    lease.close();
    drain();
  }

  @Override
  public void emit() {
    while (!done) {
      if (!(next != null ? emitNext() : takeNext())) {
        return;
      }
    }
    dropNext();
  }

  /// Makes a window of the blocks that are ready; false if no block is ready or wanted.
  private boolean takeNext() {
    boolean wanted = isWanted();
    StackLease.Taken taken = lease.take(wanted ? shape.windowBlocks() : 0);
    if (taken.failure() != null) {
      fail(taken.failure());
    } else if (!taken.items().isEmpty()) {
      make(taken.items());
      if (taken.ended() && mayEnd()) { // without a decision that only finds the end
        end();
      }
    } else if (taken.ended()) {
      end();
    } else if (lease.isClosed()) {
      fail(ended());
    } else {
      return !wanted && begun && prefetch();
    }
    return true;
  }

  /// Whether the window that was just emitted is the last thing of the stream.
  private boolean mayEnd() {
    return !done && next == null && !lease.isClosed() && lease.expiry() == null && !decisions.isClosed();
  }

  private void end() {
    done = true;
    lease.close();
    subscriber.onComplete();
  }

  private void make(List<LeaseItem> items) {
    BlockCorruptException corrupt = firstCorrupt(items);
    if (corrupt != null) {
      lease.giveUp(items);
      fail(corrupt);
      return;
    }
    List<LeasedBlock> inMemory = inMemory(items);
    if (inMemory != null) {
      ReadyWindow window = new ReadyWindow(inMemory, shape);
      lease.hold(window);
      emit(window);
    } else {
      StoreWindow window = new StoreWindow(reads, removals, stack.layout(), items, shape);
      lease.hold(window);
      next = window;
      window.claim(this::drain);
    }
  }

  /// The blocks of `items`; null if one has to be read from a store.
  private static @Nullable List<LeasedBlock> inMemory(List<LeaseItem> items) {
    List<LeasedBlock> blocks = new ArrayList<>(items.size());
    for (LeaseItem item : items) {
      if (!(item instanceof LeaseItem.InMemory here)) {
        return null;
      }
      blocks.add(new LeasedBlock(here.position(), here.block()));
    }
    return blocks;
  }

  private @Nullable BlockCorruptException firstCorrupt(List<LeaseItem> items) {
    for (LeaseItem item : lease.verifies() ? items : List.<LeaseItem>of()) {
      try {
        if (item instanceof LeaseItem.InMemory here) {
          removals.requireIntact(here.block());
        }
      } catch (BlockCorruptException e) {
        return e;
      } catch (IllegalStateException e) { // closed meanwhile: the stream was cancelled
        return null;
      }
    }
    return null;
  }

  /// Emits `next`; false if it waits for memory or for demand.
  private boolean emitNext() {
    StoreWindow window = requireNonNull(next);
    Throwable refusal = window.refusal();
    if (refusal instanceof ArenaClosedException) {
      fail(stack.closed());
    } else if (refusal != null) {
      fail(refusal);
    } else if (lease.isClosed()) {
      fail(ended());
    } else if (lease.expiry() != null) {
      fail(lease.expiry());
    } else if (window.isGranted() && isWanted()) {
      next = null;
      countPrefetched(window, true);
      emit(window);
    } else {
      return false;
    }
    return true;
  }

  private void emit(LeasedWindow window) {
    begun = true;
    scope.adopt(window);
    spend();
    subscriber.onNext(window);
  }

  /// Starts to read the next window before there is demand for it; false if its blocks are in memory, or memory is
  /// short.
  private boolean prefetch() {
    int most = Math.min(shape.windowBlocks(), stack.options().tiering().prefetchBlocks());
    List<LeaseItem> items = most == 0 ? List.of() : lease.takeStored(most);
    if (items.isEmpty()) {
      return false;
    }
    StoreWindow window = new StoreWindow(reads, removals, stack.layout(), items, shape);
    if (!window.prefetch(this::drain)) {
      lease.putBack(items);
      return false;
    }
    decisions.decide(after -> figures.prefetched(window.missing()));
    lease.hold(window);
    prefetched = true;
    next = window;
    return true;
  }

  private void countPrefetched(StoreWindow window, boolean useful) {
    if (prefetched) {
      prefetched = false;
      decisions.decide(after -> figures.prefetchEnded(window.missing(), useful));
    }
  }

  /// The error of a stream whose lease was closed before the stream ended.
  private RuntimeException ended() {
    return decisions.isClosed() ? stack.closed() : new CancellationException("lease ended before its stream");
  }

  @Override
  public void fail(@Nullable Throwable error) {
    if (!done) {
      done = true;
      lease.close();
      subscriber.onError(requireNonNull(error, "error"));
    }
  }

  private void dropNext() {
    StoreWindow window = next;
    if (window != null) {
      next = null;
      countPrefetched(window, false);
      window.close();
    }
  }
}
