package io.penstock.tier;

import io.penstock.block.BlockKey;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/// A block that is being written or is admitted to be written, and the leases that wait for it. Used in decisions only.
final class Pending implements StackEntry {
  private final BlockKey key;
  private @Nullable StackLease admittedBy;
  private boolean listed;
  private final List<Waiter> waiters = new ArrayList<>(1);

  private record Waiter(StackLease lease, int position) {}

  /// @param admittedBy the lease that admitted the key; null if a reservation writes it
  Pending(BlockKey key, @Nullable StackLease admittedBy) {
    this.key = key;
    this.admittedBy = admittedBy;
  }

  @Override
  public BlockKey key() {
    return key;
  }

  /// Whether a reservation writes it.
  boolean isReserved() {
    return admittedBy == null;
  }

  /// A reservation writes it from now on.
  void reserve() {
    admittedBy = null;
  }

  boolean isAdmittedBy(StackLease lease) {
    return admittedBy == lease;
  }

  /// Whether the ledger has it; false once the policy evicted it before its bytes came.
  boolean isListed() {
    return listed;
  }

  void setListed(boolean now) {
    listed = now;
  }

  void await(StackLease lease, int position) {
    waiters.add(new Waiter(lease, position));
  }

  void forget(StackLease lease) {
    waiters.removeIf(waiter -> waiter.lease() == lease);
  }

  /// It was written: each waiting lease gets its item.
  ///
  /// @param item by position in the lease
  void serve(IntFunction<LeaseItem> item, DeferredActions after) {
    waiters.forEach(waiter -> waiter.lease().serve(this, item.apply(waiter.position()), after));
  }

  /// It is written no more: no lease waits for it any longer.
  void abandon(DeferredActions after) {
    waiters.forEach(waiter -> waiter.lease().abandon(this, after));
  }
}
