package io.penstock.stack.ledger;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.stack.decision.DeferredActions;
import io.penstock.stack.decision.LeaseItem;
import io.penstock.stack.decision.Pending;
import io.penstock.stack.decision.Resident;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The keys of a `TierStack` that are being written, from their reservation or admission to the commit. Used in
/// decisions only.
public final class PendingBlocks {
  private final StackIndex index;
  private final Map<BlockKey, Pending> writing = new HashMap<>();

  public PendingBlocks(StackIndex index) {
    this.index = index;
  }

  public int size() {
    return writing.size();
  }

  /// The write of `key`; null if no caller writes it.
  public @Nullable Pending of(BlockKey key) {
    return writing.get(key);
  }

  /// Whether a reservation writes `key`.
  public boolean isReserved(BlockKey key) {
    Pending pending = writing.get(key);
    return pending != null && pending.isReserved();
  }

  /// Enters `key`, which is at `position` of a request.
  ///
  /// @param admittedBy the lease whose owner has the block written; null if a reservation writes it
  public Pending add(BlockKey key, int position, Pending.@Nullable Reader admittedBy) {
    Pending pending = new Pending(key, position, admittedBy);
    writing.put(key, pending);
    return pending;
  }

  /// Ends the write `pending`, because `there` has the block: the leases that wait for it get this block.
  public void serve(Pending pending, Resident there, DeferredActions after) {
    writing.remove(pending.key());
    pending.serve(position -> LeaseItem.of(position, there), after);
  }

  /// Ends the write `pending`: the leases that wait for it get `block`.
  public void serve(Pending pending, Block block, DeferredActions after) {
    writing.remove(pending.key());
    pending.serve(position -> new LeaseItem.InMemory(position, block.share()), after);
  }

  /// Revokes `pending`: takes it out of the ledger, and the leases stop waiting for it.
  public void revoke(Pending pending, DeferredActions after) {
    if (writing.remove(pending.key(), pending)) {
      index.unlist(pending);
      pending.abandon(after);
    }
  }

  /// Forgets that the ledger has these keys, because the stack has closed and emptied it.
  public void unlistAll() {
    writing.values().forEach(pending -> pending.setListed(false));
  }
}
