package io.penstock.tier;

import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockScope;
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
import reactor.core.publisher.Operators;

/// A lease of a [HostTier] and, once somebody reads it, the stream of its windows. Fields marked so are guarded by the tier's lock.
final class HostLease extends Lease {
  private final HostTier tier;
  private final int keys;
  final BitSet hits = new BitSet();
  final BitSet found = new BitSet();
  final BitSet admitted = new BitSet();
  final BitSet awaited = new BitSet();
  /// Blocks to hand out, at most one a key. Guarded by the tier's lock.
  final ArrayDeque<Leased> ready = new ArrayDeque<>();
  /// Keys being written that this lease waits for. Guarded by the tier's lock.
  int waiting;
  /// Pending blocks that name this lease. Guarded by the tier's lock.
  final List<HostEntry.Pending> pending = new ArrayList<>(0);
  private final AtomicBoolean subscribed = new AtomicBoolean();
  private volatile @Nullable Windows windows;

  HostLease(HostTier tier, int keys) {
    this.tier = tier;
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
    return Flux.from(subscriber -> {
      if (!subscribed.compareAndSet(false, true)) {
        Operators.error(subscriber, new IllegalStateException("lease must be read once (was read before)"));
        return;
      }
      Windows stream = new Windows(subscriber, maxBlocks, scope);
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
    tier.end(this);
    signal();
  }

  /// The stream of windows: no queue of its own, it takes from `ready` when there is demand.
  private final class Windows implements Subscription {
    private final Subscriber<? super List<Leased>> subscriber;
    private final int maxBlocks;
    private final BlockScope scope;
    private final AtomicLong requested = new AtomicLong();
    /// Held from the start, so that nothing is signalled before `onSubscribe`.
    private final AtomicInteger wip = new AtomicInteger(1);
    private volatile @Nullable Throwable illegal;
    private volatile boolean done;

    Windows(Subscriber<? super List<Leased>> subscriber, int maxBlocks, BlockScope scope) {
      this.subscriber = subscriber;
      this.maxBlocks = maxBlocks;
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
          return;
        }
        boolean wanted = requested.get() > 0;
        HostTier.Taken taken = tier.take(HostLease.this, wanted ? maxBlocks : 0);
        if (taken.failure() != null) {
          fail(taken.failure());
        } else if (!taken.blocks().isEmpty()) {
          emit(taken.blocks());
        } else if (taken.ended()) {
          done = true;
          close();
          subscriber.onComplete();
        } else if (isClosed()) {
          fail(new CancellationException("lease ended before its stream"));
        } else {
          return;
        }
      }
    }

    private void emit(List<Leased> window) {
      for (Leased leased : window) {
        scope.adopt(leased.block());
      }
      BlockCorruptException corrupt = firstCorrupt(window);
      if (corrupt != null) {
        window.forEach(leased -> leased.block().close());
        fail(corrupt);
        return;
      }
      if (requested.get() != Long.MAX_VALUE) {
        requested.decrementAndGet();
      }
      subscriber.onNext(window);
    }

    private @Nullable BlockCorruptException firstCorrupt(List<Leased> window) {
      if (!tier.verifiesReads()) {
        return null;
      }
      for (Leased leased : window) {
        try {
          leased.block().verify("tier " + tier.info().name());
        } catch (BlockCorruptException e) {
          tier.quarantine(leased.block());
          return e;
        } catch (IllegalStateException e) { // the scope closed the block meanwhile: the stream was cancelled
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
  }

  /// Takes up to `max` ready blocks. Guarded by the tier's lock.
  List<Leased> poll(int max) {
    List<Leased> taken = new ArrayList<>(Math.min(max, ready.size()));
    while (taken.size() < max && !ready.isEmpty()) {
      taken.add(ready.poll());
    }
    return taken;
  }

  /// Empties `ready`. Guarded by the tier's lock.
  List<Block> drop() {
    List<Block> blocks = new ArrayList<>(ready.size());
    ready.forEach(leased -> blocks.add(leased.block()));
    ready.clear();
    return blocks;
  }
}
