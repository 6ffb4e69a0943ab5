package io.penstock.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class TokenBucketTest {
  private static final long SECOND = 1_000_000_000;

  @ParameterizedTest
  @CsvSource({"0, 1, unitsPerSecond must be > 0 (was 0)", "-5, 1, unitsPerSecond must be > 0 (was -5)",
    "1, 0, burstUnits must be > 0 (was 0)", "1, -1, burstUnits must be > 0 (was -1)"})
  void wrongRates_areRefused(long rate, long burst, String message) {
    assertThatThrownBy(() -> new TokenBucket(rate, burst, 0)).isInstanceOf(IllegalArgumentException.class)
        .hasMessage(message);
  }

  @Test
  void negativeUnits_areRefused_andCostNothing() {
    TokenBucket bucket = new TokenBucket(10, 10, 0);
    assertThatThrownBy(() -> bucket.take(-1, 0)).hasMessage("units must be >= 0 (was -1)");
    assertThatThrownBy(() -> bucket.waitNanos(-1, 0)).hasMessage("units must be >= 0 (was -1)");
    assertThatThrownBy(() -> bucket.giveBack(-1)).hasMessage("units must be >= 0 (was -1)");
    assertThat(bucket.take(10, 0)).isZero();
  }

  @Test
  void noUnits_passAtOnce_evenWhereOthersWait() {
    TokenBucket bucket = new TokenBucket(10, 10, 0);
    assertThat(bucket.take(0, 0)).isZero();
    bucket.take(10, 0);
    assertThat(bucket.take(0, 0)).isZero();
    bucket.take(5, 0);
    assertThat(bucket.take(0, 0)).as("behind 5 units that wait").isEqualTo(SECOND / 2);
  }

  @Test
  void burst_passesAtOnce_andOneMoreWaitsForItsTokens() {
    TokenBucket bucket = new TokenBucket(10, 10, 0);
    for (int i = 0; i < 10; i++) {
      assertThat(bucket.take(1, 0)).as("unit %d", i).isZero();
    }
    assertThat(bucket.take(1, 0)).isEqualTo(SECOND / 10);
    assertThat(bucket.take(2, 0)).isEqualTo(3 * SECOND / 10);
  }

  @Test
  void pause_refillsTheBurstAndNoMore() {
    TokenBucket bucket = new TokenBucket(10, 4, 0);
    bucket.take(4, 0);
    long later = 1000 * SECOND;
    assertThat(bucket.waitNanos(4, later)).isZero();
    assertThat(bucket.take(4, later)).isZero();
    assertThat(bucket.waitNanos(1, later)).isEqualTo(SECOND / 10);
    assertThat(bucket.waitNanos(1, later + SECOND / 10)).isZero();
    assertThat(bucket.waitNanos(1, later + SECOND / 10 - 1)).isEqualTo(1);
  }

  @Test
  void unitsBeyondTheBurst_passWhenTheBucketIsFull_andTheNextWaitForAll() {
    TokenBucket bucket = new TokenBucket(10, 4, 0);
    assertThat(bucket.take(100, 0)).isZero();
    assertThat(bucket.waitNanos(4, 0)).isEqualTo(10 * SECOND);
    assertThat(bucket.waitNanos(100, 0)).as("not before the bucket is full").isEqualTo(10 * SECOND);
    assertThat(bucket.waitNanos(1, 0)).isEqualTo(10 * SECOND - 3 * SECOND / 10);
  }

  @Test
  void waitNanos_takesNothing() {
    TokenBucket bucket = new TokenBucket(10, 1, 0);
    for (int i = 0; i < 100; i++) {
      assertThat(bucket.waitNanos(1, 0)).isZero();
    }
  }

  @Test
  void giveBack_undoesATake() {
    TokenBucket bucket = new TokenBucket(10, 10, 0);
    bucket.take(10, 0);
    bucket.take(7, 0);
    bucket.giveBack(7);
    assertThat(bucket.waitNanos(1, 0)).isEqualTo(SECOND / 10);
    bucket.giveBack(10);
    assertThat(bucket.waitNanos(10, 0)).isZero();
  }

  @Test
  void giveBack_neverOverfillsTheBucket() {
    TokenBucket bucket = new TokenBucket(10, 4, 0);
    bucket.giveBack(1_000);
    assertThat(bucket.take(4, 0)).isZero();
    assertThat(bucket.waitNanos(1, 0)).isEqualTo(SECOND / 10);
  }

  /// A third of a nanosecond each: rounding down gave nothing back, so each attempt cost a little for ever.
  @Test
  void unitsShorterThanANanosecond_areGivenBackInFull() {
    TokenBucket bucket = new TokenBucket(3 * SECOND, 3, 0);
    for (int i = 0; i < 3_000_000; i++) {
      bucket.take(1, 0);
      bucket.giveBack(1);
    }
    assertThat(bucket.waitNanos(3, 0)).isZero();
  }

  @Test
  void unitsShorterThanANanosecond_areNotFreeOfCharge() {
    TokenBucket bucket = new TokenBucket(4 * SECOND, 4, 0);
    long wait = 0;
    for (int i = 0; i < 4_000; i++) {
      wait = bucket.take(1, 0);
    }
    assertThat(wait).isBetween(998L, 1_000L);
  }

  /// A debt beyond the largest long became a full bucket.
  @ParameterizedTest
  @ValueSource(longs = {Long.MAX_VALUE, 1L << 40, 10_000_000_000L})
  void debtOfAnySize_isNotForgotten(long units) {
    TokenBucket bucket = new TokenBucket(1, 1, 0);
    for (int i = 0; i < 3; i++) {
      bucket.take(units, 0);
      assertThat(bucket.waitNanos(1, 0)).as("take %d", i).isGreaterThanOrEqualTo(SECOND * 1_000_000_000);
      assertThat(bucket.waitNanos(1, Long.MAX_VALUE / 4)).as("take %d", i).isPositive();
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {Long.MIN_VALUE, -SECOND, Long.MAX_VALUE - SECOND / 2})
  void clock_mayStartAnywhereAndWrap(long start) {
    TokenBucket bucket = new TokenBucket(10, 10, start);
    bucket.take(10, start);
    assertThat(bucket.take(5, start)).isEqualTo(SECOND / 2);
    assertThat(bucket.take(5, start + SECOND)).as("half of the burst is there again").isZero();
    assertThat(bucket.waitNanos(10, start + 10 * SECOND)).isZero();
  }

  @Test
  void clockThatStepsBack_letsNothingPassTwice() {
    TokenBucket bucket = new TokenBucket(10, 10, 5 * SECOND);
    bucket.take(10, 5 * SECOND);
    assertThat(bucket.waitNanos(10, 4 * SECOND)).isEqualTo(2 * SECOND);
  }

  /// The continuous-state leaky bucket of I.371, in exact decimals.
  @ParameterizedTest
  @CsvSource({"1, 1000, 50", "2, 7, 7", "3, 999999999, 1000000", "4, 3000000000, 100"})
  void operationsAtRandom_waitAsTheLeakyBucketDoes(int seed, long rate, long burst) {
    Random random = new Random(seed);
    long now = random.nextInt();
    TokenBucket bucket = new TokenBucket(rate, burst, now);
    BigDecimal level = BigDecimal.ZERO; // nanoseconds of debt
    BigDecimal cost = BigDecimal.valueOf(SECOND).divide(BigDecimal.valueOf(rate), MathContext.DECIMAL64);
    for (int step = 0; step < 5_000; step++) {
      long pause = random.nextInt(3) == 0 ? random.nextLong((long) (2 * burst * cost.doubleValue()) + 2) : 0;
      now += pause;
      level = level.subtract(BigDecimal.valueOf(pause)).max(BigDecimal.ZERO);
      long units = random.nextLong(2 * burst + 1);
      BigDecimal needed = cost.multiply(BigDecimal.valueOf(Math.min(units, burst)));
      double expected =
          level.add(needed).subtract(cost.multiply(BigDecimal.valueOf(burst))).max(BigDecimal.ZERO).doubleValue();
      boolean takes = random.nextInt(4) > 0;
      long wait = takes ? bucket.take(units, now) : bucket.waitNanos(units, now);
      if (Math.abs(wait - expected) > 2) {
        throw new AssertionError("seed %d, step %d: wait must be %f (was %d)".formatted(seed, step, expected, wait));
      }
      if (takes) {
        level = level.add(cost.multiply(BigDecimal.valueOf(units)));
      }
    }
  }
}
