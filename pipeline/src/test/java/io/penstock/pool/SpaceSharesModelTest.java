package io.penstock.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.pool.share.SpaceShares;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// Shares and quotas of spaces chosen at random, which take and give back memory: no space gets more than there is.
final class SpaceSharesModelTest {
  @Test
  void membersAtRandom_keepTheirGuarantees_andTheirQuotas() {
    for (int seed = 0; seed < 150; seed++) {
      run(seed);
    }
  }

  private static void run(int seed) {
    Random random = new Random(seed);
    long total = 1 + random.nextLong(1L << random.nextInt(1, 50));
    SpaceShares<Integer> shares = new SpaceShares<>(total);
    int members = 1 + random.nextInt(8);
    long[] quotas = new long[members];
    for (int i = 0; i < members; i++) {
      quotas[i] = random.nextInt(3) == 0 ? 1 + random.nextLong(total) : Long.MAX_VALUE;
      shares.add(i, random.nextBoolean() ? 1 + random.nextInt(5) : random.nextDouble() + 1e-9, quotas[i]);
    }
    long guaranteed = IntStream.range(0, members).mapToLong(shares::share).sum();
    assertThat(guaranteed).as("seed %d: guaranteed in all", seed).isLessThanOrEqualTo(total);
    if (Arrays.stream(quotas).anyMatch(quota -> quota == Long.MAX_VALUE)) {
      assertThat(guaranteed).as("seed %d: of what the quotas leave", seed)
          .isGreaterThanOrEqualTo(total - 2L * members);
    }
    long[] held = new long[members];
    for (int step = 0; step < 30; step++) {
      int member = random.nextInt(members);
      long free = total - Arrays.stream(held).sum();
      long change = random.nextInt(4) == 0
          ? -random.nextLong(held[member] + 1)
          : random.nextLong(Math.min(free, shares.mayTake(member)) + 1);
      shares.hold(member, change);
      held[member] += change;
      requireRules(seed, shares, quotas, held);
    }
  }

  private static void requireRules(int seed, SpaceShares<Integer> shares, long[] quotas, long[] held) {
    for (int i = 0; i < held.length; i++) {
      assertThat(shares.held(i)).isEqualTo(held[i]).isLessThanOrEqualTo(quotas[i]);
      assertThat(shares.share(i)).as("seed %d", seed).isBetween(0L, quotas[i]);
      assertThat(shares.mayTake(i)).isEqualTo(quotas[i] - held[i]);
      assertThat(shares.mayDemand(i)).isEqualTo(Math.max(0, shares.share(i) - held[i]));
      assertThat(shares.mayDemand(i)).as("seed %d: never beyond the quota", seed)
          .isLessThanOrEqualTo(shares.mayTake(i));
    }
    requireGivers(seed, shares, held);
  }

  /// Memory is taken from the members above their share, from the one most above it first, and from no other.
  private static void requireGivers(int seed, SpaceShares<Integer> shares, long[] held) {
    List<Long> above = shares.aboveShare().stream().map(i -> held[i] - shares.share(i)).toList();
    List<Long> expected = IntStream.range(0, held.length).mapToObj(i -> held[i] - shares.share(i))
        .filter(bytes -> bytes > 0).sorted(Comparator.reverseOrder()).toList();
    assertThat(above).as("seed %d", seed).isEqualTo(expected);
  }
}
