package io.penstock.node.trace;

import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/// Random lengths and times, equal on every machine: a named generator and `StrictMath` only.
final class TraceRandom {
  private final RandomGenerator random;

  TraceRandom(long seed) {
    this.random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
  }

  /// Uniform in (0, 1).
  private double open() {
    return ((random.nextLong() >>> 12) + 0.5) * 0x1p-52;
  }

  /// Uniform in `[0, bound)`.
  int below(int bound) {
    return (int) (open() * bound);
  }

  /// Exponential: the gap between arrivals that know nothing of each other.
  double exponential(double mean) {
    return -mean * StrictMath.log(open());
  }

  /// Log-normal: many short ones and a long tail, as lengths and pauses of people are.
  long logNormal(double median, double sigma) {
    double normal = StrictMath.sqrt(-2 * StrictMath.log(open())) * StrictMath.cos(2 * StrictMath.PI * open());
    return Math.max(1, (long) (median * StrictMath.exp(sigma * normal)));
  }

  /// Geometric from 1: each time the conversation continues with the mean's probability.
  int geometric(double mean) {
    return 1 + (int) (StrictMath.log(open()) / StrictMath.log1p(-1 / mean));
  }

  /// Zipf over `[0, ranks)`: the first is the most popular.
  int zipf(int ranks) {
    double total = 0;
    for (int i = 1; i <= ranks; i++) {
      total += 1.0 / i;
    }
    double left = open() * total;
    int rank = 0;
    while (rank < ranks - 1 && left > 1.0 / (rank + 1)) {
      left -= 1.0 / (rank + 1);
      rank++;
    }
    return rank;
  }
}
