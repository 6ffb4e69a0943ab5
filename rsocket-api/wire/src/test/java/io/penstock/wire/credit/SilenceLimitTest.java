package io.penstock.wire.credit;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.operator.Serial;
import io.penstock.wire.protocol.WireFailure.AwaitTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import reactor.test.scheduler.VirtualTimeScheduler;

/// How long a peer that owes may take, in virtual time.
final class SilenceLimitTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private final VirtualTimeScheduler clock = VirtualTimeScheduler.create();
  private final List<Throwable> ends = new ArrayList<>();
  private final Serial serial = new Serial(ends::add);
  private boolean owes = true;
  private long moved;
  private final SilenceLimit silence = new SilenceLimit("slices",
      SilenceRules.of(LIMIT, clock), serial, () -> owes && ends.isEmpty(), () -> moved);

  /// The peer moves `bytes` every `pace`, until `most` has passed or the stream was ended.
  ///
  /// @return the time that passed
  private Duration play(long bytes, Duration pace, Duration most) {
    long began = clock.now(TimeUnit.MILLISECONDS);
    serial.run(silence::watch);
    Duration passed = Duration.ZERO;
    while (ends.isEmpty() && passed.compareTo(most) < 0) {
      clock.advanceTimeBy(pace);
      serial.run(() -> {
        moved += bytes;
        silence.watch();
      });
      passed = Duration.ofMillis(clock.now(TimeUnit.MILLISECONDS) - began);
    }
    return passed;
  }

  @Test
  void peerThatMovesTheLeastRate_isNeverEnded() {
    play(SilenceLimit.LEAST_RATE, Duration.ofSeconds(1), Duration.ofHours(2));
    assertThat(ends).isEmpty();
  }

  @Test
  void slicesWithLongPauses_areFine_ifTheirBytesPayForThem() {
    play(20 * SilenceLimit.LEAST_RATE, Duration.ofSeconds(20), Duration.ofHours(2));
    assertThat(ends).isEmpty();
  }

  @Test
  void peerThatTrickles_hasTheLimitAndTheTimeOfItsBytes() {
    Duration passed = play(1, LIMIT.minusSeconds(1), Duration.ofDays(1));
    assertThat(ends).singleElement().isInstanceOf(AwaitTimeoutException.class);
    assertThat(passed).isBetween(LIMIT, LIMIT.multipliedBy(2));
  }

  @Test
  void peerAtHalfTheRate_hasTwiceTheLimit() {
    Duration passed = play(SilenceLimit.LEAST_RATE / 2, Duration.ofSeconds(1), Duration.ofDays(1));
    assertThat(ends).hasSize(1);
    assertThat(passed).isBetween(LIMIT.multipliedBy(2), LIMIT.multipliedBy(3));
  }

  @Test
  void timeInWhichNothingIsOwed_doesNotCount() {
    for (int i = 0; i < 100; i++) {
      owes = true;
      play(0, Duration.ofMillis(100), Duration.ofMillis(200));
      owes = false;
      play(0, Duration.ofSeconds(10), LIMIT.multipliedBy(4));
    }
    assertThat(ends).isEmpty();
  }
}
