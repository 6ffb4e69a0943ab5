package io.penstock.tier;

import io.penstock.block.BlockKey;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/// The open leases of a [TierStack]. Decides on the keys of a new lease one by one, in the order of the request.
final class StackLeases {
  private final StackState state;
  private final StackWrites writes;
  /// Used in decisions only.
  private final Set<StackLease> leases = new LinkedHashSet<>();

  StackLeases(StackState state, StackWrites writes) {
    this.state = state;
    this.writes = writes;
  }

  /// Decides on `keys`, and leases the blocks that are visible or will be written.
  StackLease lease(List<BlockKey> keys, OnMiss onMiss) {
    StackLease lease = new StackLease(state, this, keys.size());
    try {
      state.decide(after -> decide(lease, keys, onMiss, after));
    } catch (Throwable e) { // from a store: no reader gets the lease, so none would close it
      lease.close();
      throw e;
    }
    return lease;
  }

  private void decide(StackLease lease, List<BlockKey> keys, OnMiss onMiss, DeferredActions after) {
    state.requireOpen();
    leases.add(lease);
    for (int i = 0; i < keys.size(); i++) {
      decide(lease, i, keys.get(i), onMiss, after);
    }
    state.history().referenced(keys.size(), lease.hitCount(), after);
  }

  private void decide(StackLease lease, int position, BlockKey key, OnMiss onMiss, DeferredActions after) {
    StackEntry entry = state.index().find(key, after);
    if (entry instanceof Resident block && state.stores().isReadable(block)) {
      state.index().hit(key, block.level(), after);
      lease.hit(position);
      lease.find(position, block);
    } else if (entry instanceof Pending block && onMiss != OnMiss.SKIP) {
      state.index().hit(key, state.index().level(key), after);
      lease.hit(position);
      lease.await(position, block);
    } else if (!(entry instanceof Pending) && onMiss != OnMiss.SKIP) {
      miss(lease, position, key, onMiss, after);
    }
  }

  private void miss(StackLease lease, int position, BlockKey key, OnMiss onMiss, DeferredActions after) {
    Pending block = writes.pending(key); // evicted while a writer still writes it
    if (block != null) {
      lease.await(position, block);
    } else if (onMiss == OnMiss.ADMIT) {
      block = writes.admit(key, lease);
      lease.admit(position, block);
    }
    if (block != null && onMiss == OnMiss.ADMIT) {
      state.index().enter(block, after);
    }
  }

  /// Removes `lease`, which waited for `pending`, and revokes its admissions that no writer took over.
  void ended(StackLease lease, List<Pending> pending, DeferredActions after) {
    leases.remove(lease);
    pending.stream().filter(block -> block.isAdmittedBy(lease)).forEach(block -> writes.revoke(block, after));
  }

  /// Ends all leases because the stack has closed, and tells their readers. In a decision.
  void close(DeferredActions after) {
    for (StackLease lease : leases) {
      after.then(lease::signal);
      after.then(lease::close);
    }
  }
}
