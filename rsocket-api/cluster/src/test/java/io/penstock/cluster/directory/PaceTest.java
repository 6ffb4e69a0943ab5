package io.penstock.cluster.directory;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.test.scheduler.VirtualTimeScheduler;

final class PaceTest {
  private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
  private final SteppedClock clock = new SteppedClock(time);
  private final Pace pace = new Pace(100, 10, clock);

  @AfterEach
  void end() {
    time.dispose();
  }

  @Test
  void namesBeyondTheBurst_wait() {
    assertThat(pace.take(10)).isZero();
    assertThat(pace.take(10)).isEqualTo(Duration.ofMillis(100).toNanos());
    time.advanceTimeBy(Duration.ofMillis(200));
    assertThat(pace.take(10)).isZero();
  }

  @Test
  void clockThatIsSetBack_costsNoWait() {
    assertThat(pace.take(10)).isZero();
    clock.step(-Duration.ofHours(1).toNanos());
    assertThat(pace.take(10)).isZero();
    assertThat(pace.take(10)).isEqualTo(Duration.ofMillis(100).toNanos());
  }
}
