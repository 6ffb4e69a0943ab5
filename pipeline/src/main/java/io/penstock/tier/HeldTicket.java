package io.penstock.tier;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.Permits;
import org.jspecify.annotations.Nullable;

/// The ticket of a wait for permits, whose owner may give up before the ticket is there. Safe from any thread.
final class HeldTicket {
  @GuardedBy("this") private Permits.@Nullable Ticket ticket;
  @GuardedBy("this") private boolean cancelled;

  /// Holds `taken`, and cancels it at once if the owner has given up.
  void hold(Permits.Ticket taken) {
    boolean late;
    synchronized (this) {
      ticket = taken;
      late = cancelled;
    }
    if (late) {
      taken.cancel();
    }
  }

  /// Leaves the queue, now or when the ticket is there. Cancels outside the monitor, for that may be another's turn.
  void cancel() {
    Permits.Ticket taken;
    synchronized (this) {
      cancelled = true;
      taken = ticket;
    }
    if (taken != null) {
      taken.cancel();
    }
  }
}
