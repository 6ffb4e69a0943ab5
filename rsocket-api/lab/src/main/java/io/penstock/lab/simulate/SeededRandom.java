package io.penstock.lab.simulate;

import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;

/// Random draws of a seed, equal on every machine. Each subject has random numbers of its own, so that one more draw of
/// one changes no other.
final class SeededRandom {
  private final SplittableRandom random;

  /// @param subject of the draws
  SeededRandom(long seed, String subject) {
    this.random = new SplittableRandom(seed * 0x9E3779B97F4A7C15L + subject.hashCode());
  }

  /// Uniform in `[least, most]`.
  int between(int least, int most) {
    return random.nextInt(least, most + 1);
  }

  /// True in `percent` of a hundred.
  boolean chance(int percent) {
    return random.nextInt(100) < percent;
  }

  <T> T oneOf(List<T> choices) {
    return choices.get(random.nextInt(choices.size()));
  }

  Duration micros(int least, int most) {
    return Duration.ofNanos(between(least, most) * 1_000L);
  }

  Duration millis(int least, int most) {
    return Duration.ofMillis(between(least, most));
  }

  long seed() {
    return random.nextLong();
  }
}
