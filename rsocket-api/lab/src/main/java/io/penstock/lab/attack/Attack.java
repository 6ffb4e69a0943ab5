package io.penstock.lab.attack;

import java.time.Duration;

/// One kind of attack while it runs. The attackers' event loop makes every call.
@FunctionalInterface
interface Attack {
  Duration TICK = Duration.ofMillis(100);

  /// Does the work that is due; called every [#TICK], so its work must be bounded.
  void tick();

  /// Number of ticks in `time`.
  static int ticks(Duration time) {
    return (int) Math.max(1, time.dividedBy(TICK));
  }
}
