package io.penstock.wire.rank;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Registries that are one.
final class SharedRanksTest {
  private static final int SEEDS = 40;
  private static final int STEPS = 60;

  @Test
  void ranksThatLive_areShownByAllRegistries_whileNodesDieAndJoin() {
    for (long seed = 0; seed < SEEDS; seed++) {
      SharedRanksSimulation run = new SharedRanksSimulation(seed);
      run.startAll();
      for (int step = 0; step < STEPS; step++) {
        run.turnOver();
        for (SharedRanksSimulation.Node node : run.nodes()) {
          assertThat(node.shown()).as(() -> run.history() + node.name).hasSize(6)
              .isEqualTo(run.alive(Long.MAX_VALUE));
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void registries_agreeWithTheModel_afterAllHasSettled(boolean splits) {
    for (long seed = 0; seed < SEEDS; seed++) {
      SharedRanksSimulation run = new SharedRanksSimulation(seed);
      for (int step = 0; step < STEPS; step++) {
        run.step(splits);
      }
      run.settle();
      for (SharedRanksSimulation.Node node : run.nodes()) {
        assertThat(node.shown()).as(() -> run.history() + node.name).isEqualTo(run.alive(Long.MAX_VALUE));
      }
      SharedRanksSimulation.Node late = run.join();
      assertThat(late.shown()).as("seed %d: one that joins", seed).isEqualTo(run.alive(Long.MAX_VALUE));
    }
  }
}
