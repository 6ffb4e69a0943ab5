package io.penstock.stack.move;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.budget.Permits;
import org.jspecify.annotations.Nullable;

/// The ticket of a wait for permits. Its owner may give up before the ticket was handed out. Safe from any thread.
public final class HeldTicket {
  @GuardedBy("this") private Permits.@Nullable Ticket ticket;
  @GuardedBy("this") private boolean cancelled;

  /// Holds `taken`; cancels it at once if the owner has given up already.
  public void hold(Permits.Ticket taken) {
    boolean late;
    synchronized (this) {
      ticket = taken;
      late = cancelled;
    }
    if (late) {
      taken.cancel();
    }
  }

  /// Cancels the ticket, now or as soon as [#hold] brings it. Cancels outside the monitor, because a cancel may run the
  /// grant of the next waiter.
  public void cancel() {
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
