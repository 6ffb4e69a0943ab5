package io.penstock.pool;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.EvictionPolicy;
import io.penstock.block.SpaceId;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// The ledger against [PolicyOracle], for every policy: every hit and every victim, in order, on one level and several.
@Timeout(60)
public final class EvictionOrderTest {
  private static final SpaceId SPACE = new SpaceId(3, 4);

  @ParameterizedTest
  @EnumSource(EvictionPolicy.class)
  void references_atRandom_areDecidedAsTheOracleDoes(EvictionPolicy policy) {
    compare(policy, 40, 600);
  }

  @Tag("proof")
  @ParameterizedTest
  @EnumSource(EvictionPolicy.class)
  void references_ofManySeeds_areDecidedAsTheOracleDoes(EvictionPolicy policy) {
    compare(policy, 300, 3000);
  }

  private static void compare(EvictionPolicy policy, int seeds, int references) {
    for (int seed = 0; seed < seeds; seed++) {
      Random random = new Random(seed);
      long[] capacities = random.longs(1 + random.nextInt(4), 1, 1 + (seed % 5 == 0 ? 120 : 12)).toArray();
      int capacity = 0;
      for (long each : capacities) {
        capacity += (int) each;
      }
      int keys = 2 + random.nextInt(3 * capacity);
      PolicyOracle oracle = PolicyOracle.of(policy, capacity);
      Ledger<Integer> ledger = new Ledger<>(SPACE, policy, capacities);
      for (int i = 0; i < references; i++) {
        // few keys come often, and some come once
        long key = random.nextInt(8) == 0 ? 10_000 + i : (int) (keys * random.nextDouble() * random.nextDouble());
        int position = random.nextInt(40);
        List<BlockKey> victims = new ArrayList<>(1);
        Ledger.Moves<Integer> moves = (moved, value, level) -> {
          if (level == capacities.length) {
            victims.add(moved);
          }
        };
        boolean hit = ledger.touch(key(key), position, moves) != null;
        same("hit", hit, oracle.has(key), seed, i);
        List<BlockKey> expected = List.of();
        if (hit) {
          oracle.touch(key, position);
        } else {
          long victim = oracle.insert(key, position);
          ledger.insert(key(key), i, position, moves);
          expected = victim == PolicyOracle.NONE ? List.of() : List.of(key(victim));
        }
        same("victims", victims, expected, seed, i);
      }
    }
  }

  /// Cheaper than an assertion, for millions of them.
  private static void same(String what, Object actual, Object expected, int seed, int step) {
    if (!actual.equals(expected)) {
      throw new AssertionError(
          "seed %d, step %d: %s must be %s (was %s)".formatted(seed, step, what, expected, actual));
    }
  }

  public static BlockKey key(long id) {
    return new BlockKey(SPACE, new BlockHash(id * 0x9E3779B97F4A7C15L, id));
  }
}
