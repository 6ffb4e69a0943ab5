package io.penstock.gateway.simulate;

import io.penstock.check.Checks;
import io.penstock.gateway.choice.BlockIndex;
import java.time.Duration;

/// Instances of a simulation.
///
/// @param instances that compute and generate
/// @param capacityBlocks of the cache of each
/// @param tokensPerSecond that an instance computes of prompts
/// @param loadTokensPerSecond tokens of blocks in its cache that it takes over
/// @param perToken time that it takes to generate a token
/// @param lag until an event of an instance has reached the index
/// @param speed of the trace, 1 for as recorded
/// @param seed of all draws
record FleetOptions(int instances, long capacityBlocks, double tokensPerSecond, double loadTokensPerSecond,
    Duration perToken, Duration lag, double speed, long seed) {
  FleetOptions {
    if (instances < 1 || instances > BlockIndex.MOST_INSTANCES) {
      throw new IllegalArgumentException(
          "instances must be in [1, %d] (was %d)".formatted(BlockIndex.MOST_INSTANCES, instances));
    }
    Checks.positive("capacityBlocks", capacityBlocks);
    requirePositive("tokensPerSecond", tokensPerSecond);
    requirePositive("loadTokensPerSecond", loadTokensPerSecond);
    requirePositive("speed", speed);
  }

  private static void requirePositive(String name, double value) {
    if (!(value > 0 && value < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException("%s must be > 0 and finite (was %s)".formatted(name, value));
    }
  }
}
