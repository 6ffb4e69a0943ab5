package io.penstock.stack;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Stacks of every shape, with pools down to one window and stores that fail, each under the requests of one seed
/// ([StackSimulation]).
@Timeout(600)
final class TierStackSimulationTest {
  @Test
  void requests_inAnyOrder_endAndLeaveNothing_over300Seeds() {
    run(0, 300);
  }

  @Test
  @Tag("proof")
  void requests_inAnyOrder_endAndLeaveNothing_over100000Seeds() {
    run(300, 100_000);
  }

  private static void run(int from, int to) {
    for (int seed = from; seed < to; seed++) {
      try {
        new StackSimulation(seed).run();
      } catch (Throwable e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
  }
}
