package io.penstock.stack.decision;

import io.penstock.block.BlockKey;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/// A key whose block is being written, or was admitted to be written, and the leases that wait for the block. Used in
/// decisions only.
public final class Pending implements StackEntry {
  /// A lease that waits for blocks.
  public interface Reader {
    /// Adds `item`, because `block` was written.
    void serve(Pending block, LeaseItem item, DeferredActions after);

    /// Stops waiting for `block`, which will not be written.
    void abandon(Pending block, DeferredActions after);
  }

  /// A reservation that writes blocks.
  public interface Writer {
    void write(Pending block);

    /// Another writer takes over the write of `key`.
    void lose(BlockKey key);

    /// Whether it waits for a store to take the blocks.
    boolean isCommitting();
  }

  private final BlockKey key;
  private final int position;
  private @Nullable Reader admittedBy;
  private @Nullable Writer writer;
  private long since;
  private boolean listed;
  private final List<Waiter> waiters = new ArrayList<>(1);

  private record Waiter(Reader lease, int position) {}

  /// @param position of the key in the request that names it
  /// @param admittedBy the lease that admitted the key; null if a reservation writes it
  public Pending(BlockKey key, int position, @Nullable Reader admittedBy) {
    this.key = key;
    this.position = position;
    this.admittedBy = admittedBy;
  }

  @Override
  public BlockKey key() {
    return key;
  }

  public int position() {
    return position;
  }

  /// Whether a reservation writes the block.
  public boolean isReserved() {
    return admittedBy == null;
  }

  /// `next` takes the write over, from the lease that admitted the key or from the reservation that wrote it.
  ///
  /// @param now by the stack's clock
  public void reserve(Writer next, long now) {
    Writer before = writer;
    if (before != null) {
      before.lose(key);
    }
    admittedBy = null;
    writer = next;
    since = now;
    next.write(this);
  }

  /// Whether its reservation waits for a store to take the blocks.
  public boolean isCommitting() {
    return writer != null && writer.isCommitting();
  }

  /// Time at which its reservation began, by the stack's clock.
  public long since() {
    return since;
  }

  public boolean isAdmittedBy(Reader lease) {
    return lease.equals(admittedBy);
  }

  /// Whether the ledger has the key; false if the policy evicted it before its bytes came.
  public boolean isListed() {
    return listed;
  }

  public void setListed(boolean now) {
    listed = now;
  }

  public void await(Reader lease, int position) {
    waiters.add(new Waiter(lease, position));
  }

  public void forget(Reader lease) {
    waiters.removeIf(waiter -> waiter.lease().equals(lease));
  }

  /// Gives each waiting lease its item: the block was written.
  ///
  /// @param item by position in the lease
  public void serve(IntFunction<LeaseItem> item, DeferredActions after) {
    waiters.forEach(waiter -> waiter.lease().serve(this, item.apply(waiter.position()), after));
  }

  /// Makes each lease stop waiting: the block will not be written.
  public void abandon(DeferredActions after) {
    waiters.forEach(waiter -> waiter.lease().abandon(this, after));
  }
}
