package io.penstock.lab.attack;

import java.time.Duration;

/// One kind of attack while it runs. Every call comes on the attackers' event loop.
@FunctionalInterface
interface Attack {
  Duration TICK = Duration.ofMillis(100);

  /// Does what is to be done now; called every [#TICK], so its work must be bounded.
  void tick();

  /// How many ticks `time` has.
  static int ticks(Duration time) {
    return (int) Math.max(1, time.dividedBy(TICK));
  }
}
