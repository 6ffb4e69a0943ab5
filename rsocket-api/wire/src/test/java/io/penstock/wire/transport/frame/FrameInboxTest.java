package io.penstock.wire.transport.frame;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import io.penstock.wire.transport.frame.FrameInbox;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class FrameInboxTest {
  @ParameterizedTest
  @ValueSource(longs = {0, -1, Long.MIN_VALUE})
  void requestForNothingOrLess_breaksTheConnection_andIsNoDemand(long n) {
    EmbeddedChannel channel = new EmbeddedChannel();
    List<Throwable> broken = new ArrayList<>();
    FrameInbox inbox = new FrameInbox(channel.eventLoop(), 1024, () -> {}, () -> {}, broken::add);

    inbox.request(n);

    assertThat(broken).singleElement().satisfies(error -> assertThat(error)
        .hasMessage("request must be > 0 (was " + n + "), Reactive Streams rule 3.9"));
    assertThat(inbox.hasDemand()).isFalse();
    channel.close().syncUninterruptibly();
  }
}
