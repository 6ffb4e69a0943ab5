package io.penstock.lab.torture;

import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/// Moment at which a writer is killed.
///
/// @param aim the phase in which it should be; [Phase#IDLE] if only the time counts
/// @param nth the beginning of that phase to wait for
/// @param micros to wait from there on; from the first look at the writer if only the time counts
record KillPlan(Phase aim, long nth, long micros) {
  /// Maximum wait for a phase that does not come.
  static final long PATIENCE_MICROS = 1_500_000;

  private static final int MOST_APPENDS = 600;
  private static final int MOST_OTHERS = 12;
  private static final int MOST_MICROS = 400_000;

  /// The watcher spins instead of sleeping this much before the end, and so many beginnings before the awaited one.
  private static final long SPUN_NANOS = 300_000;
  private static final int SPUN_APPENDS = 16;
  private static final long NAP_NANOS = 20_000;

  /// Draws one: a third of them at any time, the others in a phase, at its n-th beginning, up to about its length
  /// later.
  static KillPlan draw(Random random) {
    if (random.nextInt(3) == 0) {
      return new KillPlan(Phase.IDLE, 0, random.nextInt(MOST_MICROS));
    }
    Phase aim = Phase.values()[1 + random.nextInt(Phase.values().length - 1)];
    int most = switch (aim) {
      case OPEN -> 1;
      case APPEND -> MOST_APPENDS;
      default -> MOST_OTHERS;
    };
    return new KillPlan(aim, 1 + random.nextInt(most), random.nextInt(aim.micros()));
  }

  /// Returns when the writer behind `page` has reached the moment, or time is up. Spins at the end only, because
  /// microseconds matter there and the writer needs the processor.
  ///
  /// @param isAlive false if there is no writer left to wait for
  void await(PhasePage page, BooleanSupplier isAlive) {
    if (aim == Phase.IDLE) {
      spin(System.nanoTime() + 1_000 * micros, page, Long.MAX_VALUE, isAlive);
      return;
    }
    spin(System.nanoTime() + 1_000 * PATIENCE_MICROS, page, nth, isAlive);
    spin(System.nanoTime() + 1_000 * micros, page, Long.MAX_VALUE, isAlive);
  }

  private void spin(long until, PhasePage page, long count, BooleanSupplier isAlive) {
    long near = count - (aim == Phase.APPEND ? SPUN_APPENDS : 1);
    int turns = 0;
    for (long left = until - System.nanoTime(); left > 0; left = until - System.nanoTime()) {
      long begun = page.count(aim);
      turns++;
      if (begun >= count || ((turns & 0xfff) == 0 && !isAlive.getAsBoolean())) {
        return;
      }
      if (begun < near && left > SPUN_NANOS) {
        LockSupport.parkNanos(NAP_NANOS);
      } else {
        Thread.onSpinWait();
      }
    }
  }
}
