package io.penstock.storage.disk;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import reactor.test.scheduler.VirtualTimeScheduler;

final class UnreadableSegmentsTest {
  private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
  private final UnreadableSegments segments = new UnreadableSegments(JournalClock.of(time));

  @Test
  void segmentThatFails_waitsTwiceAsLongEachTime_upToAMost() {
    for (long wait = UnreadableSegments.FIRST_MILLIS; wait <= 2 * UnreadableSegments.LAST_MILLIS; wait *= 2) {
      segments.failed(3);
      long most = Math.min(wait, UnreadableSegments.LAST_MILLIS);
      assertThat(segments.waitMillis()).isEqualTo(most);
      time.advanceTimeBy(Duration.ofMillis(most - 1));
      assertThat(segments.mayTry(3)).as("after %d ms", most - 1).isFalse();
      assertThat(segments.mayTry(4)).isTrue();
      time.advanceTimeBy(Duration.ofMillis(1));
      assertThat(segments.mayTry(3)).as("after %d ms", most).isTrue();
      assertThat(segments.waitMillis()).isZero();
    }
  }

  @Test
  void diskThatIsHealthyAgain_isTriedAtOnce_andASegmentThatFailsStillWaitsLonger() {
    segments.failed(3);
    segments.tryAll();
    assertThat(segments.mayTry(3)).isTrue();
    segments.failed(3);
    assertThat(segments.waitMillis()).isEqualTo(2 * UnreadableSegments.FIRST_MILLIS);
    segments.forget(3);
    segments.failed(3);
    assertThat(segments.waitMillis()).isEqualTo(UnreadableSegments.FIRST_MILLIS);
  }
}
