package io.penstock.wire.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

final class KvServerOptionsTest {
  private static final KvServerOptions MINUTE = KvServerOptions.defaults().withAwaitTimeout(Duration.ofMinutes(1));

  @Test
  void aWaitThatIsLongEnough_stays_andAShorterOneIsRaised() {
    assertThat(MINUTE.awaitingAtLeast(Duration.ZERO)).isEqualTo(MINUTE);
    assertThat(MINUTE.awaitingAtLeast(Duration.ofHours(1)).awaitTimeout()).isEqualTo(Duration.ofHours(1));
  }
}
