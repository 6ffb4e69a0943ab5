package io.penstock.tier;

import io.penstock.block.Block;
import io.penstock.block.BlockScope;
import io.penstock.block.Checks;
import io.penstock.block.SliceOrder;
import io.penstock.block.SliceShape;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

/// A lease of a [TierStack]: what was decided, what is ready, and who reads it. Fields marked so are guarded by the
/// tier's lock.
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
  private volatile @Nullable LeaseWindows windows;

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
  public Flux<List<LeasedBlock>> windows(int maxBlocks, BlockScope scope) {
    Checks.positive("maxBlocks", maxBlocks);
    SliceShape whole = new SliceShape(maxBlocks, Integer.MAX_VALUE, SliceOrder.BLOCK_FIRST, 0);
    Flux<LeasedWindow> windows = slicedWindows(whole, scope);
    return leases.books.hasStores()
        ? windows.concatMap(window -> blocks(window, scope), 1)
        : windows.map(window -> ((ReadyWindow) window).handOver(scope));
  }

  private static Mono<List<LeasedBlock>> blocks(LeasedWindow window, BlockScope scope) {
    return switch (window) {
      case ReadyWindow ready -> Mono.fromCallable(() -> ready.handOver(scope));
      case RisingWindow rising -> rising.blocks(scope);
      default -> throw new IllegalStateException("window must be of this tier (was " + window + ")");
    };
  }

  @Override
  public Flux<LeasedWindow> slicedWindows(SliceShape shape, BlockScope scope) {
    return Flux.from(subscriber -> {
      if (!subscribed.compareAndSet(false, true)) {
        Operators.error(subscriber, new IllegalStateException("lease must be read once (was read before)"));
        return;
      }
      LeaseWindows stream = new LeaseWindows(leases, this, subscriber, shape, scope);
      windows = stream;
      subscriber.onSubscribe(stream);
      stream.open();
    });
  }

  /// Tells the reader, if any, that something became ready, or that nothing more will. Never under the tier's lock.
  void signal() {
    LeaseWindows stream = windows;
    if (stream != null) {
      stream.drain();
    }
  }

  @Override
  protected void free() {
    leases.end(this);
    signal();
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
