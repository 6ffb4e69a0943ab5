package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.block.ArenaClosedException;
import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockScope;
import io.penstock.block.SliceOrder;
import io.penstock.block.SliceShape;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

/// A lease of a [TierStack] and, once somebody reads it, the stream of its windows. Fields marked so are guarded by the tier's lock.
final class StackLease extends Lease {
  private final StackLeases leases;
  private final int keys;
  final BitSet hits = new BitSet();
  final BitSet found = new BitSet();
  final BitSet admitted = new BitSet();
  final BitSet awaited = new BitSet();
  /// What to hand out, at most one a key. Guarded by the tier's lock.
  final ArrayDeque<Item> ready = new ArrayDeque<>();
  /// Keys being written that this lease waits for. Guarded by the tier's lock.
  int waiting;
  /// Pending blocks that name this lease. Guarded by the tier's lock.
  final List<StackEntry.Pending> pending = new ArrayList<>(0);
  private final AtomicBoolean subscribed = new AtomicBoolean();
  private volatile @Nullable Windows windows;

  /// A block of this lease: a share of its memory, or the promise of one whose bytes rest in a store.
  record Item(int position, @Nullable Block block, StackEntry.@Nullable Resident promised) {}

  StackLease(StackLeases leases, int keys) {
    this.leases = leases;
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
  public Flux<List<Leased>> windows(int maxBlocks, BlockScope scope) {
    if (maxBlocks <= 0) {
      throw new IllegalArgumentException("maxBlocks must be > 0 (was " + maxBlocks + ")");
    }
    SliceShape whole = new SliceShape(maxBlocks, Integer.MAX_VALUE, SliceOrder.BLOCK_FIRST, 0);
    Flux<LeasedWindow> windows = opened(whole, scope);
    return leases.books.hasStores() ? windows.concatMap(window -> blocks(window, scope), 1)
        : windows.map(window -> ((ReadyWindow) window).handOver(scope));
  }

  /// Most blocks of a window: there is memory for so many on their way up.
  private int maxWindowBlocks() {
    return leases.books.hasStores() ? leases.books.options.transferBlocks() : Integer.MAX_VALUE;
  }

  private static Mono<List<Leased>> blocks(LeasedWindow window, BlockScope scope) {
    return switch (window) {
      case ReadyWindow ready -> Mono.fromCallable(() -> ready.handOver(scope));
      case RisingWindow rising -> rising.blocks(scope);
      default -> throw new IllegalStateException("window must be of this tier (was " + window + ")");
    };
  }

  @Override
  public Flux<LeasedWindow> opened(SliceShape shape, BlockScope scope) {
    return Flux.from(subscriber -> {
      if (!subscribed.compareAndSet(false, true)) {
        Operators.error(subscriber, new IllegalStateException("lease must be read once (was read before)"));
        return;
      }
      Windows stream = new Windows(subscriber, shape, scope);
      windows = stream;
      subscriber.onSubscribe(stream);
      stream.open();
    });
  }

  /// Tells the reader, if any, that something became ready, or that nothing more will. Never under the tier's lock.
  void signal() {
    Windows stream = windows;
    if (stream != null) {
      stream.drain();
    }
  }

  @Override
  protected void free() {
    leases.end(this);
    signal();
  }

  /// The stream of windows: no queue of its own, it takes from `ready` when there is demand. A window that needs memory for bytes from
  /// below waits for it, and nothing overtakes it.
  private final class Windows implements Subscription {
    private final Subscriber<? super LeasedWindow> subscriber;
    private final SliceShape shape;
    private final BlockScope scope;
    private final AtomicLong requested = new AtomicLong();
    /// Held from the start, so that nothing is signalled before `onSubscribe`.
    private final AtomicInteger wip = new AtomicInteger(1);
    private volatile @Nullable Throwable illegal;
    private volatile boolean done;
    private volatile @Nullable RisingWindow rising;
    /// Whether `rising` was begun before anybody asked for it.
    private volatile boolean ahead;
    private boolean begun;

    Windows(Subscriber<? super LeasedWindow> subscriber, SliceShape shape, BlockScope scope) {
      this.subscriber = subscriber;
      this.shape = shape.withWindowBlocks(Math.min(shape.windowBlocks(), maxWindowBlocks()));
      this.scope = scope;
    }

    @Override
    public void request(long n) {
      if (n <= 0) {
        illegal = new IllegalArgumentException("n must be > 0 (was " + n + "), Reactive Streams rule 3.9");
      } else {
        requested.accumulateAndGet(n, Operators::addCap);
      }
      drain();
    }

    @Override
    public void cancel() {
      done = true;
      close();
      drain();
    }

    void drain() {
      if (wip.getAndIncrement() == 0) {
        open();
      }
    }

    /// Emits for as long as others ask for it.
    void open() {
      int missed = 1;
      do {
        emit();
        missed = wip.addAndGet(-missed);
      } while (missed != 0);
    }

    private void emit() {
      while (!done) {
        Throwable misuse = illegal;
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
      boolean wanted = requested.get() > 0;
      StackLeases.Taken taken = leases.take(StackLease.this, wanted ? shape.windowBlocks() : 0);
      if (taken.failure() != null) {
        fail(taken.failure());
      } else if (!taken.items().isEmpty()) {
        take(taken.items());
      } else if (taken.ended()) {
        done = true;
        close();
        subscriber.onComplete();
      } else if (isClosed()) {
        fail(ended());
      } else {
        return !wanted && begun && readAhead();
      }
      return true;
    }

    /// Begins to read the window that comes next; false if it is in memory, or there is no memory that nobody needs.
    private boolean readAhead() {
      int most = Math.min(shape.windowBlocks(), leases.books.options.tiering().prefetchBlocks());
      List<Item> items = most == 0 ? List.of() : leases.takeAhead(StackLease.this, most);
      if (items.isEmpty()) {
        return false;
      }
      RisingWindow window = new RisingWindow(leases.rising(), items, shape);
      if (!window.claimAhead(this::drain)) {
        leases.putBack(StackLease.this, items);
        return false;
      }
      leases.prefetched(window.missing(), 0, 0);
      ahead = true;
      rising = window;
      return true;
    }

    /// Why a stream whose lease is closed has no more.
    private RuntimeException ended() {
      return leases.books.isClosed() ? leases.books.closedException() : new CancellationException("lease ended before its stream");
    }

    private void take(List<Item> items) {
      BlockCorruptException corrupt = firstCorrupt(items);
      if (corrupt != null) {
        leases.giveUp(items);
        fail(corrupt);
      } else if (items.stream().allMatch(item -> item.block() != null)) {
        List<Leased> window = new ArrayList<>(items.size());
        items.forEach(item -> window.add(new Leased(item.position(), requireNonNull(item.block()))));
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
      } else if (isClosed()) {
        fail(ended());
      } else if (window.isGranted() && requested.get() > 0) {
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
      if (requested.get() != Long.MAX_VALUE) {
        requested.decrementAndGet();
      }
      subscriber.onNext(window);
    }

    private @Nullable BlockCorruptException firstCorrupt(List<Item> items) {
      if (!leases.books.options.verifyReads()) {
        return null;
      }
      for (Item item : items) {
        Block block = item.block();
        try {
          if (block != null) {
            block.verify("tier " + leases.books.info.name());
          }
        } catch (BlockCorruptException e) {
          leases.books.departures.quarantine(requireNonNull(block));
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
        close();
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

  /// Takes up to `max` ready items. Guarded by the tier's lock.
  List<Item> poll(int max) {
    List<Item> taken = new ArrayList<>(Math.min(max, ready.size()));
    while (taken.size() < max && !ready.isEmpty()) {
      taken.add(ready.poll());
    }
    return taken;
  }

  /// Empties `ready`. Guarded by the tier's lock.
  List<Item> drop() {
    List<Item> items = List.copyOf(ready);
    ready.clear();
    return items;
  }
}
