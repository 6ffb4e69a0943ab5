package io.penstock.lab.attack;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/// Several attacks at a time, with a new draw every second.
final class Mix implements Attack {
  private static final int ROUND_TICKS = Attack.ticks(Duration.ofSeconds(1));
  private static final int MOST_AT_A_TIME = 3;

  private final Attackers attackers;
  private final List<Supplier<Attack>> kinds;
  private final RandomGenerator random;
  private final List<Attack> running = new ArrayList<>();
  private int ticks;

  /// @param kinds makers of attacks, each with connections of its own
  Mix(Attackers attackers, List<Supplier<Attack>> kinds, RandomGenerator random) {
    this.attackers = attackers;
    this.kinds = kinds;
    this.random = random;
  }

  @Override
  public void tick() {
    if (ticks++ % ROUND_TICKS == 0) {
      attackers.disperse();
      running.clear();
      for (int i = random.nextInt(1, MOST_AT_A_TIME + 1); i > 0; i--) {
        running.add(kinds.get(random.nextInt(kinds.size())).get());
      }
    }
    running.forEach(Attack::tick);
  }
}
