package io.penstock.disagg.request;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

final class LifecycleSimulationTest {
  private static final double SHARE_OF_FAULTS = 0.05;

  @Test
  void everyRequestEndsOnce_nothingIsHeld_andNoStaleByteLands() {
    for (long seed = 1; seed <= 8; seed++) {
      hold(seed, 100, 0.3);
    }
  }

  @Test
  void faults_slowOthersByTheirShareOnly() {
    slowOthersByTheirShareOnly(1, 300);
  }

  @Test
  @Tag("proof")
  void aThousandRequests_underManySeeds() {
    for (long seed = 1; seed <= 100; seed++) {
      hold(seed, 1000, SHARE_OF_FAULTS);
      slowOthersByTheirShareOnly(seed, 1000);
    }
  }

  private static void hold(long seed, int requests, double faults) {
    LifecycleSimulation run = new LifecycleSimulation(seed, requests, faults).run();
    assertThat(run.violations()).as("seed %d, %s", seed, run.endings()).isEmpty();
  }

  private static void slowOthersByTheirShareOnly(long seed, int requests) {
    LifecycleSimulation clean = new LifecycleSimulation(seed, requests, 0).run();
    LifecycleSimulation run = new LifecycleSimulation(seed, requests, SHARE_OF_FAULTS).run();
    assertThat(clean.violations()).as("seed %d", seed).isEmpty();
    assertThat(run.slowed(clean)).as("seed %d", seed).isEmpty();
  }
}
