package io.penstock.stack.hold;

import io.penstock.pool.Hold;
import io.penstock.stack.decision.Resident;
import io.penstock.stack.decision.StackFigures;
import io.penstock.tier.TierHolds.Pin;
import org.jspecify.annotations.Nullable;

/// The read leases and the pin of one [Resident], and its group. Each change updates the [StackFigures]. Used in
/// decisions only.
final class ResidentHold implements Resident.Keeper {
  private final StackFigures figures;
  private int leases;
  private Pin.Kind pin = Pin.Kind.NONE;
  /// Time at which a soft pin ends, by the stack's clock.
  private long pinEnd;
  private @Nullable HoldGroup group;

  ResidentHold(StackFigures figures) {
    this.figures = figures;
  }

  /// What keeps `block`; null if nothing does.
  static @Nullable ResidentHold of(Resident block) {
    return (ResidentHold) block.keeper();
  }

  /// What keeps `block`, to add to it.
  static ResidentHold addTo(Resident block) {
    ResidentHold held = of(block);
    if (held == null) {
      held = new ResidentHold(block.figures());
      block.keepBy(held);
    }
    return held;
  }

  /// Gives all that keeps `old` to `fresh`, which nothing keeps.
  static @Nullable ResidentHold move(Resident old, Resident fresh) {
    ResidentHold moved = of(old);
    fresh.keepBy(moved);
    old.keepBy(null);
    return moved;
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

  @Override
  public void end(Resident block) {
    if (group != null) {
      group.leave(block);
    }
    if (leases > 0) {
      leases = 0;
      figures.leased(-1);
    }
    pin(Pin.Kind.NONE, 0);
  }

  @Override
  public boolean isEmpty() {
    return leases == 0 && pin == Pin.Kind.NONE && group == null;
  }

  @Override
  public Hold strongest() {
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
