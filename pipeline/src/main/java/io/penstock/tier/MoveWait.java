package io.penstock.tier;

import io.penstock.block.Permits;
import io.penstock.tier.StackEntry.Resident;
import org.jspecify.annotations.Nullable;

/// A block in line for memory or a place, for the sake of `target`, the level it is to get to.
final class MoveWait {
  /// What a block waits for.
  enum Need {
    /// A place of a store, for bytes that are in host memory.
    PLACE,
    /// The right to stay in the host memory where the bytes are already.
    HOST_CHARGE,
    /// Host memory to sink into and stay.
    HOST_SLOT,
    /// Host memory to pass through.
    BOUNCE
  }

  final Resident entry;
  final Need need;
  final int target;
  private Permits.@Nullable Ticket ticket;
  private boolean over;

  MoveWait(Resident entry, Need need, int target) {
    this.entry = entry;
    this.need = need;
    this.target = target;
  }

  boolean isFor(@Nullable Need need, int target) {
    return this.need == need && this.target == target;
  }

  /// Remembers the place in line, and leaves it if the wait ended meanwhile. Tickets are cancelled outside the monitor:
  /// it may be somebody else's turn then.
  void take(Permits.Ticket place) {
    boolean late;
    synchronized (this) {
      ticket = place;
      late = over;
    }
    if (late) {
      place.cancel();
    }
  }

  void leave() {
    Permits.Ticket place;
    synchronized (this) {
      over = true;
      place = ticket;
    }
    if (place != null) {
      place.cancel();
    }
  }
}
