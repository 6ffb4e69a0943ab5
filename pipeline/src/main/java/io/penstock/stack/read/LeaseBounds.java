package io.penstock.stack.read;

import io.penstock.stack.decision.DeferredActions;
import io.penstock.stack.decision.LeaseItem;
import io.penstock.stack.decision.Resident;
import io.penstock.stack.hold.StackHolds;
import io.penstock.stack.ledger.LevelStates;
import io.penstock.stack.ledger.StackIndex;
import io.penstock.stack.shape.StackShape;
import org.jspecify.annotations.Nullable;

/// How many blocks the leases of a `TierStack` may hold and admit. Used in decisions only, except [#areBounded].
final class LeaseBounds {
  /// A lease, or a window, holds at most this part of the blocks that may still be held.
  private static final int PART = 16;

  private final StackShape shape;
  private final StackIndex index;
  private final LevelStates states;
  private final StackHolds holds;
  /// Keys that open leases admitted.
  private long admitted;

  LeaseBounds(StackShape shape, StackIndex index, LevelStates states, StackHolds holds) {
    this.shape = shape;
    this.index = index;
    this.states = states;
    this.holds = holds;
  }

  /// Whether a lease that admitted `keys` may admit one more. If decisions are not exact, leases admit no more keys
  /// than the levels have room for, and a lease no more than it leaves to others: a promise to write blocks keeps
  /// others from writing them.
  boolean mayAdmit(long keys) {
    return shape.options().exact() || keys < shape.info().capacityBlocks() - admitted;
  }

  /// Open leases admitted `keys` more, or fewer if negative.
  void admitted(int keys) {
    admitted += keys;
  }

  /// Whether a lease that holds `blocks` may hold one more. If decisions are not exact, leases and windows hold three
  /// quarters of the host level at most, and each holds the less the more there are: so writers find memory, and new
  /// readers find blocks to hold, beside readers that stand still.
  boolean mayHold(int blocks) {
    return blocks < part();
  }

  /// Number of blocks that the next window may have, of `wanted`; at least one.
  int mayTake(int wanted) {
    return (int) Math.min(wanted, Math.max(1, part()));
  }

  /// Whether leases and windows may hold only so many blocks.
  boolean areBounded() {
    return !shape.options().exact() && shape.host() >= 0;
  }

  private long part() {
    return areBounded() ? Math.ceilDiv(holds.free(), PART) : Long.MAX_VALUE;
  }

  /// `blocks` more are held, or fewer if negative.
  void hold(int blocks) {
    holds.hold(blocks);
  }

  /// Present form of `item`; null if the stack no longer has it.
  @Nullable LeaseItem held(LeaseItem item, DeferredActions after) {
    if (!(item instanceof LeaseItem.Named named)) {
      return item;
    }
    return index.find(named.key(), after) instanceof Resident block && states.isReadable(block)
        ? LeaseItem.of(named.position(), block)
        : null;
  }
}
