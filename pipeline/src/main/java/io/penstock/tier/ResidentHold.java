package io.penstock.tier;

import io.penstock.pool.Hold;
import io.penstock.tier.TierHolds.Pin;
import org.jspecify.annotations.Nullable;

/// The read leases and the pin of one [Resident], and its group. Each change updates the [StackFigures]. Used in
/// decisions only.
final class ResidentHold {
  private final StackFigures figures;
  private int leases;
  private Pin.Kind pin = Pin.Kind.NONE;
  /// When a soft pin ends, by the stack's clock.
  private long pinEnd;
  private @Nullable HoldGroup group;

  ResidentHold(StackFigures figures) {
    this.figures = figures;
  }

  void lease() {
    if (leases++ == 0) {
      figures.leased(1);
    }
  }

  void unlease() {
    if (--leases == 0) {
      figures.leased(-1);
    }
  }

  boolean isLeased() {
    return leases > 0;
  }

  Pin.Kind pin() {
    return pin;
  }

  void pin(Pin.Kind kind, long end) {
    figures.pinned(pin, -1);
    pin = kind;
    pinEnd = end;
    figures.pinned(pin, 1);
  }

  /// Whether this is still the soft pin that ends at `end`.
  boolean isSoftUntil(long end) {
    return pin == Pin.Kind.SOFT && pinEnd == end;
  }

  long pinEnd() {
    return pinEnd;
  }

  @Nullable HoldGroup group() {
    return group;
  }

  void join(HoldGroup joined) {
    group = joined;
  }

  /// The block left the ledger: nothing holds it any more.
  void clear() {
    if (leases > 0) {
      leases = 0;
      figures.leased(-1);
    }
    pin(Pin.Kind.NONE, 0);
  }

  boolean isEmpty() {
    return leases == 0 && pin == Pin.Kind.NONE && group == null;
  }

  /// The strongest reason why the block stays.
  Hold strongest() {
    if (leases > 0) {
      return Hold.LEASE;
    }
    return switch (pin) {
      case HARD -> Hold.HARD_PIN;
      case SOFT -> Hold.SOFT_PIN;
      case NONE -> Hold.NONE;
    };
  }
}
