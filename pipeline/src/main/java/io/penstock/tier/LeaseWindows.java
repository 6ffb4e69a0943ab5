package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.block.ArenaClosedException;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockScope;
import io.penstock.block.SliceShape;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscriber;

/// The stream of the windows of one [StackLease]. A window that needs memory for bytes from below waits for it, and
/// nothing overtakes it. Never emits under the tier's lock.
final class LeaseWindows extends DemandLoop {
  private final StackLeases leases;
  private final StackLease lease;
  private final Subscriber<? super LeasedWindow> subscriber;
  private final SliceShape shape;
  private final BlockScope scope;
  private volatile boolean done;
  private volatile @Nullable RisingWindow rising;
  /// Whether `rising` was begun before anybody asked for it.
  private volatile boolean ahead;
  private boolean begun;

  LeaseWindows(StackLeases leases, StackLease lease, Subscriber<? super LeasedWindow> subscriber, SliceShape shape,
      BlockScope scope) {
    this.leases = leases;
    this.lease = lease;
    this.subscriber = subscriber;
    // with stores there is memory for so many blocks from below; without them every block of a window is in memory and
    // costs none
    int most = leases.books.hasStores() ? leases.books.options.transferBlocks() : Integer.MAX_VALUE;
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
      Throwable misuse = misuse();
      if (misuse != null) {
        fail(misuse);
      } else if (!(rising != null ? emitRising() : emitNext())) {
        return;
      }
    }
    dropRising();
  }

  /// False if there is nothing to emit now.
  private boolean emitNext() {
    boolean wanted = isWanted();
    StackLeases.Taken taken = leases.take(lease, wanted ? shape.windowBlocks() : 0);
    if (taken.failure() != null) {
      fail(taken.failure());
    } else if (!taken.items().isEmpty()) {
      take(taken.items());
    } else if (taken.ended()) {
      done = true;
      lease.close();
      subscriber.onComplete();
    } else if (lease.isClosed()) {
      fail(ended());
    } else {
      return !wanted && begun && readAhead();
    }
    return true;
  }

  /// Begins to read the window that comes next; false if it is in memory, or there is no memory that nobody needs.
  private boolean readAhead() {
    int most = Math.min(shape.windowBlocks(), leases.books.options.tiering().prefetchBlocks());
    List<StackLease.Item> items = most == 0 ? List.of() : leases.takeAhead(lease, most);
    if (items.isEmpty()) {
      return false;
    }
    RisingWindow window = new RisingWindow(leases.rising(), items, shape);
    if (!window.claimAhead(this::drain)) {
      leases.putBack(lease, items);
      return false;
    }
    leases.prefetched(window.missing(), 0, 0);
    ahead = true;
    rising = window;
    return true;
  }

  /// Why a stream whose lease is closed has no more.
  private RuntimeException ended() {
    return leases.books.isClosed()
        ? leases.books.closedException()
        : new CancellationException("lease ended before its stream");
  }

  private void take(List<StackLease.Item> items) {
    BlockCorruptException corrupt = firstCorrupt(items);
    if (corrupt != null) {
      leases.giveUp(items);
      fail(corrupt);
    } else if (items.stream().allMatch(item -> item.block() != null)) {
      List<LeasedBlock> window = new ArrayList<>(items.size());
      items.forEach(item -> window.add(new LeasedBlock(item.position(), requireNonNull(item.block()))));
      emit(new ReadyWindow(window, shape));
    } else {
      RisingWindow window = new RisingWindow(leases.rising(), items, shape);
      rising = window;
      window.claim(this::drain);
    }
  }

  /// False if its memory was not granted yet, or nobody wants it yet.
  private boolean emitRising() {
    RisingWindow window = requireNonNull(rising);
    Throwable refusal = window.refusal();
    if (refusal instanceof ArenaClosedException) {
      fail(leases.books.closedException());
    } else if (refusal != null) {
      fail(refusal);
    } else if (lease.isClosed()) {
      fail(ended());
    } else if (window.isGranted() && isWanted()) {
      rising = null;
      countAhead(window, true);
      emit(window);
    } else {
      return false;
    }
    return true;
  }

  private void countAhead(RisingWindow window, boolean useful) {
    if (ahead) {
      ahead = false;
      leases.prefetched(0, useful ? window.missing() : 0, useful ? 0 : window.missing());
    }
  }

  private void emit(LeasedWindow window) {
    begun = true;
    scope.adopt(window);
    spend();
    subscriber.onNext(window);
  }

  private @Nullable BlockCorruptException firstCorrupt(List<StackLease.Item> items) {
    for (StackLease.Item item : items) {
      try {
        if (item.block() != null) {
          leases.books.departures.requireSound(item.block());
        }
      } catch (BlockCorruptException e) {
        return e;
      } catch (IllegalStateException e) { // closed meanwhile: the stream was cancelled
        return null;
      }
    }
    return null;
  }

  private void fail(Throwable error) {
    if (!done) {
      done = true;
      lease.close();
      subscriber.onError(error);
    }
  }

  private void dropRising() {
    RisingWindow window = rising;
    if (window != null) {
      rising = null;
      countAhead(window, false);
      window.close();
    }
  }
}
