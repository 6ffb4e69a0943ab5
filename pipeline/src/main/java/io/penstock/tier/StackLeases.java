package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.tier.StackEntry.Pending;
import io.penstock.tier.StackEntry.Resident;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The open leases of a [TierStack]: who was promised what. Decides key by key, in reference order.
final class StackLeases {
  final StackBooks books;
  private final StackWrites writes;
  private final StackRising rising;
  /// Guarded by the stack's lock.
  private final Set<StackLease> leases = new LinkedHashSet<>();

  StackLeases(StackBooks books, StackWrites writes) {
    this.books = books;
    this.writes = writes;
    this.rising = new StackRising(books);
  }

  StackRising rising() {
    return rising;
  }

  StackLease decide(List<BlockKey> keys, OnMiss onMiss) {
    StackLease lease = new StackLease(this, keys.size());
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      books.requireOpen();
      leases.add(lease);
      for (int i = 0; i < keys.size(); i++) {
        decide(lease, i, keys.get(i), onMiss, after);
      }
      books.reviewMoved(after);
      int hit = lease.hits.cardinality();
      books.figures.hits += hit;
      books.figures.misses += keys.size() - hit;
      after.hear(() -> books.listener.referenced(keys.size(), hit));
    }
    after.run();
    return lease;
  }

  private void decide(StackLease lease, int position, BlockKey key, OnMiss onMiss, Aftermath after) {
    StackEntry entry = books.peek(key);
    if (entry instanceof Resident resident && books.docks.isReadable(resident)) {
      books.touch(key, resident.level, after);
      lease.hits.set(position);
      lease.found.set(position);
      lease.ready.add(item(position, resident));
    } else if (entry instanceof Pending pending && onMiss != OnMiss.SKIP) {
      books.touch(key, books.level(key), after);
      lease.hits.set(position);
      await(lease, position, pending);
    } else if (!(entry instanceof Pending) && onMiss != OnMiss.SKIP) {
      miss(lease, position, key, onMiss, after);
    }
  }

  /// A share of the block's memory, or the promise of it.
  static StackLease.Item item(int position, Resident resident) {
    Block block = resident.host;
    if (block != null) {
      return new StackLease.Item(position, block.share(), null);
    }
    resident.pins++;
    return new StackLease.Item(position, null, resident);
  }

  private void miss(StackLease lease, int position, BlockKey key, OnMiss onMiss, Aftermath after) {
    Pending pending = writes.pending(key); // chosen as victim while it is written
    if (pending != null) {
      await(lease, position, pending);
    } else if (onMiss == OnMiss.ADMIT) {
      pending = writes.admit(key, lease);
      lease.admitted.set(position);
      lease.pending.add(pending);
      pending.await(lease, position);
    }
    if (pending != null && onMiss == OnMiss.ADMIT) {
      books.enter(pending, after);
    }
  }

  private static void await(StackLease lease, int position, Pending pending) {
    lease.awaited.set(position);
    lease.pending.add(pending);
    pending.await(lease, position);
  }

  /// What a lease may hand out now.
  record Taken(List<StackLease.Item> items, boolean ended, @Nullable Throwable failure) {}

  Taken take(StackLease lease, int maxBlocks) {
    Aftermath after = books.aftermath();
    Taken taken;
    synchronized (books.lock) {
      if (books.isClosedNow() && !lease.isClosed()) {
        return new Taken(List.of(), false, books.closedException());
      }
      List<StackLease.Item> items = lease.poll(maxBlocks);
      items.replaceAll(item -> redeemed(item, after));
      taken = new Taken(items, lease.ready.isEmpty() && lease.waiting == 0 && !lease.isClosed(), null);
    }
    after.run();
    return taken;
  }

  /// What a lease hands out next, if that begins with a block that is to be read from a store; else nothing, and
  /// nothing is taken.
  List<StackLease.Item> takeAhead(StackLease lease, int maxBlocks) {
    synchronized (books.lock) {
      int below = 0;
      for (StackLease.Item item : lease.ready) {
        Resident promised = item.promised();
        if (below == maxBlocks || books.isClosedNow() || promised == null || promised.host != null) {
          break; // one in host memory is compared when it is asked for
        }
        below++;
      }
      return lease.poll(below);
    }
  }

  /// Takes back, in their place, what [#takeAhead] gave.
  void putBack(StackLease lease, List<StackLease.Item> items) {
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      if (lease.isClosed()) {
        items.forEach(item -> giveUp(item, after));
      } else {
        items.reversed().forEach(lease.ready::addFirst);
      }
    }
    after.run();
  }

  /// Counts blocks that were read before they were asked for, and what became of them.
  void prefetched(int begun, int useful, int wasted) {
    synchronized (books.lock) {
      books.figures.prefetched += begun;
      books.figures.prefetchedUseful += useful;
      books.figures.prefetchedWasted += wasted;
    }
  }

  /// A share instead of the promise, if the bytes are in host memory now.
  private StackLease.Item redeemed(StackLease.Item item, Aftermath after) {
    Resident promised = item.promised();
    if (promised == null || promised.host == null) {
      return item;
    }
    StackLease.Item here = new StackLease.Item(item.position(), promised.host.share(), null);
    unpin(promised, after);
    return here;
  }

  /// Takes back what was taken and not read.
  void giveUp(List<StackLease.Item> items) {
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      items.forEach(item -> giveUp(item, after));
    }
    after.run();
  }

  private void giveUp(StackLease.Item item, Aftermath after) {
    if (item.block() != null) {
      after.close(item.block());
    } else {
      unpin(requireNonNull(item.promised()), after);
    }
  }

  private void unpin(Resident resident, Aftermath after) {
    resident.pins--;
    books.mover.review(resident, after);
  }

  /// Ends `lease`: drops what it did not hand out, and the admissions that nobody took over.
  void end(StackLease lease) {
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      leases.remove(lease);
      lease.drop().forEach(item -> giveUp(item, after));
      for (Pending pending : List.copyOf(lease.pending)) {
        pending.forget(lease);
        if (pending.admittedBy == lease) {
          writes.revoke(pending, after);
        }
      }
      lease.pending.clear();
    }
    after.run();
  }

  /// Tells every reader that the stack has closed, and ends the leases. Under the lock.
  void close(Aftermath after) {
    for (StackLease lease : leases) {
      after.then(lease::signal);
      after.then(lease::close);
    }
  }
}
