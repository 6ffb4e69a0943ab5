package io.penstock.wire.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.embedded.EmbeddedChannel;
import io.penstock.operator.LiveTimers;
import org.junit.jupiter.api.Test;
import reactor.netty.resources.LoopResources;

/// Timers of loops that run by themselves, and of one that its owner drives.
final class LoopTimersTest {
  @Test
  void timers_standStillWithTheProcess_unlessTheirLoopIsDriven() {
    LoopResources loops = LoopResources.create("timers", 2, true);
    try {
      EventLoopGroup group = loops.onClient(false);
      assertThat(LoopTimers.of(group.next())).isInstanceOf(LiveTimers.class);
      assertThat(LoopTimers.of(new EmbeddedChannel().eventLoop())).isNotInstanceOf(LiveTimers.class);
    } finally {
      loops.dispose();
    }
  }

  @Test
  void timersOfAGroup_leaveItsConnectionsSpreadOverAllLoops() {
    LoopResources loops = LoopResources.create("spread", 2, true);
    try {
      EventLoopGroup group = loops.onClient(false);
      EventLoop one = group.next();
      assertThat(LoopTimers.ofFirst(group)).isInstanceOf(LiveTimers.class);
      assertThat(group.next()).isNotSameAs(one);
    } finally {
      loops.dispose();
    }
  }
}
