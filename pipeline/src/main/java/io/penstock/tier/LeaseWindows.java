package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockScope;
import io.penstock.block.SlabArena.ArenaClosedException;
import io.penstock.block.SliceShape;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscriber;

/// The stream of the windows of one [StackLease], in order: no window overtakes one that waits for memory. The emitting
/// thread writes the fields; a cancel writes `done`, on any thread. Emits outside decisions only.
final class LeaseWindows extends DemandLoop {
  private final StackState state;
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

  LeaseWindows(StackState state, StackLease lease, Subscriber<? super LeasedWindow> subscriber, SliceShape shape,
      BlockScope scope) {
    this.state = state;
    this.lease = lease;
    this.subscriber = subscriber;
    StackShape stack = state.shape();
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
  void emit() {
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
    } else if (taken.ended()) {
      done = true;
      lease.close();
      subscriber.onComplete();
    } else if (lease.isClosed()) {
      fail(ended());
    } else {
      return !wanted && begun && prefetch();
    }
    return true;
  }

  private void make(List<LeaseItem> items) {
    BlockCorruptException corrupt = firstCorrupt(items);
    if (corrupt != null) {
      lease.giveUp(items);
      fail(corrupt);
    } else if (items.stream().allMatch(LeaseItem.InMemory.class::isInstance)) {
      List<LeasedBlock> blocks = new ArrayList<>(items.size());
      items.forEach(item -> blocks.add(new LeasedBlock(item.position(), ((LeaseItem.InMemory) item).block())));
      ReadyWindow window = new ReadyWindow(blocks, shape);
      lease.hold(window);
      emit(window);
    } else {
      StoreWindow window = new StoreWindow(state, items, shape);
      lease.hold(window);
      next = window;
      window.claim(this::drain);
    }
  }

  private @Nullable BlockCorruptException firstCorrupt(List<LeaseItem> items) {
    for (LeaseItem item : lease.verifies() ? items : List.<LeaseItem>of()) {
      try {
        if (item instanceof LeaseItem.InMemory here) {
          state.removals().requireIntact(here.block());
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
      fail(state.shape().closed());
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
    int most = Math.min(shape.windowBlocks(), state.shape().options().tiering().prefetchBlocks());
    List<LeaseItem> items = most == 0 ? List.of() : lease.takeStored(most);
    if (items.isEmpty()) {
      return false;
    }
    StoreWindow window = new StoreWindow(state, items, shape);
    if (!window.prefetch(this::drain)) {
      lease.putBack(items);
      return false;
    }
    state.decide(after -> state.figures().prefetched(window.missing()));
    lease.hold(window);
    prefetched = true;
    next = window;
    return true;
  }

  private void countPrefetched(StoreWindow window, boolean useful) {
    if (prefetched) {
      prefetched = false;
      state.decide(after -> state.figures().prefetchEnded(window.missing(), useful));
    }
  }

  /// The error of a stream whose lease was closed before the stream ended.
  private RuntimeException ended() {
    return state.isClosed() ? state.shape().closed() : new CancellationException("lease ended before its stream");
  }

  @Override
  void fail(@Nullable Throwable error) {
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
