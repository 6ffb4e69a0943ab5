package io.penstock.stack.decision;

import java.util.PriorityQueue;
import java.util.function.LongSupplier;

/// The moments at which something of a `TierStack` ends unless it is renewed: read leases, soft pins, puts, waits. One
/// heap for all of them. Used in decisions only.
public final class Ends {
  /// Maximum number of stale entries in the heap before it is built again.
  private static final int MOST_STALE = 4096;

  private final LongSupplier nanos;
  private PriorityQueue<End> heap = newHeap();

  /// A moment at which something ends.
  public interface End {
    /// Time on the stack's clock.
    long at();

    /// Whether it stands for nothing any more.
    boolean isStale();

    /// Called when the moment has come.
    void come(long now, DeferredActions after);
  }

  public Ends(LongSupplier nanos) {
    this.nanos = nanos;
  }

  private static PriorityQueue<End> newHeap() {
    return new PriorityQueue<>((a, b) -> Long.signum(a.at() - b.at()));
  }

  public long now() {
    return nanos.getAsLong();
  }

  /// Runs the ends whose moment has come.
  public void run(DeferredActions after) {
    if (heap.isEmpty()) {
      return;
    }
    long now = now();
    for (End next = heap.peek(); next != null && next.at() - now <= 0; next = heap.peek()) {
      heap.remove();
      if (!next.isStale()) {
        next.come(now, after);
      }
    }
  }

  /// @param alive how many ends may stand for something
  public void add(End end, long alive) {
    heap.add(end);
    if (heap.size() > MOST_STALE + 2 * alive) {
      PriorityQueue<End> fresh = newHeap();
      heap.stream().filter(each -> !each.isStale()).forEach(fresh::add);
      heap = fresh;
    }
  }
}
