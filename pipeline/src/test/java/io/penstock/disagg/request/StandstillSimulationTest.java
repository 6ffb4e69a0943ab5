package io.penstock.disagg.request;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Processes that stand still for 1, 8, 15 and 40 s, under seeds and in virtual time.
@Timeout(600)
final class StandstillSimulationTest {
  @Test
  void aProcessThatStoodStill_judgesNoOtherByThatTime() {
    run(20);
  }

  @Tag("proof")
  @Test
  void aProcessThatStoodStill_judgesNoOtherByThatTime_underManySeeds() {
    run(2000);
  }

  private static void run(int seeds) {
    int lost = 0;
    for (int seed = 0; seed < seeds; seed++) {
      StandstillSimulation simulation = new StandstillSimulation(seed, true).run(8);
      assertThat(simulation.violations()).as("seed %d", seed).isEmpty();
      assertThat(simulation.ended()).isGreaterThan(100);
      assertThat(simulation.released()).isBetween(simulation.ended() - 8, simulation.ended() + 8);
      lost += simulation.lost();
    }
    assertThat(lost).as("decodes that slept too long learnt it").isPositive();
  }

  /// With timers that go on, the simulation finds what this is about.
  @Test
  void withTimersThatGoOn_ranksAndLeasesAreLost() {
    int dropped = 0;
    int ended = 0;
    for (int seed = 0; seed < 8; seed++) {
      for (String violation : new StandstillSimulation(seed, false).run(8).violations()) {
        dropped += violation.contains("was dropped") ? 1 : 0;
        ended += violation.contains("renewed in time") ? 1 : 0;
      }
    }
    assertThat(dropped).isPositive();
    assertThat(ended).isPositive();
  }
}
