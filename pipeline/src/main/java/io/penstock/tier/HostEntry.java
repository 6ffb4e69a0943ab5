package io.penstock.tier;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What the ledger of a [HostTier] remembers of a key. Guarded by the tier's lock.
sealed interface HostEntry {
  /// A visible block; the tier's own handle.
  record Resident(Block block) implements HostEntry {}

  /// A block that somebody is writing or is about to write, and the leases that wait for it.
  final class Pending implements HostEntry {
    final BlockKey key;
    /// The lease that admitted the key and is still open; null once a writer took it over.
    @Nullable HostLease admittedBy;
    /// Whether the ledger counts it; false once the policy chose it as victim before its bytes came.
    boolean listed;
    private final List<Waiter> waiters = new ArrayList<>(1);

    record Waiter(HostLease lease, int position) {}

    Pending(BlockKey key, @Nullable HostLease admittedBy) {
      this.key = key;
      this.admittedBy = admittedBy;
    }

    void await(HostLease lease, int position) {
      waiters.add(new Waiter(lease, position));
      lease.waiting++;
    }

    void forget(HostLease lease) {
      waiters.removeIf(waiter -> waiter.lease() == lease);
    }

    List<Waiter> waiters() {
      return waiters;
    }
  }
}
