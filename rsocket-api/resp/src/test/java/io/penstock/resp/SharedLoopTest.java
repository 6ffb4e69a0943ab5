package io.penstock.resp;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import io.penstock.wire.transport.AwakeLoops;
import java.time.Duration;
import org.junit.jupiter.api.Test;

final class SharedLoopTest {
  private final SharedLoop loop =
      new SharedLoop(new AwakeLoops(Duration.ZERO, () -> 0).of(new EmbeddedChannel().eventLoop()));

  @Test
  void connectionsThatSendByTurns_shareTheLoop_untilOneSendsAlone() {
    int one = loop.connect();
    int other = loop.connect();
    loop.heard(one, false);
    assertThat(loop.isShared()).as("the first read of all").isTrue();
    loop.heard(other, false);
    for (int i = 0; i < SharedLoop.SHARED; i++) {
      assertThat(loop.isShared()).as("read %d", i).isTrue();
      loop.heard(other, false);
    }
    assertThat(loop.isShared()).isFalse();
    loop.heard(one, false);
    assertThat(loop.isShared()).isTrue();
  }
}
