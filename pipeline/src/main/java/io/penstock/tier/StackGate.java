package io.penstock.tier;

import io.penstock.pool.Ledger;
import io.penstock.tier.StackEntry.Resident;

/// Says what may sink where in a [TierStack]: what a store does not take now leaves, unless it rests there already.
/// Under the stack's lock.
final class StackGate implements Ledger.Gate<StackEntry> {
  private final Docks docks;
  private final StackTiering tiering;
  private final int last;

  /// @param last the lowest level, the one of blocks of which a number is remembered
  StackGate(Docks docks, StackTiering tiering, int last) {
    this.docks = docks;
    this.tiering = tiering;
    this.last = last;
  }

  @Override
  public boolean takes(StackEntry entry, int level) {
    if (entry instanceof Resident resident) {
      return resident.places[level] != null || (docks.takes(level) && tiering.offloads(resident.key, level));
    }
    return docks.takes(level);
  }

  @Override
  public boolean takesNumber(int level) {
    return level == last || docks.takes(level);
  }
}
