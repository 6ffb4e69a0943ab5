package io.penstock.wire.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.penstock.operator.LiveTimers;
import io.penstock.system.LiveClock;
import io.rsocket.DuplexConnection;
import io.rsocket.RSocketErrorException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.scheduler.VirtualTimeScheduler;

/// A connection and the silence of its peer, in virtual time.
final class PeerWatchTest {
  private static final Duration LIFETIME = Duration.ofSeconds(8);
  private static final Duration LOOK = LIFETIME.dividedBy(8);

  private final VirtualTimeScheduler scheduler = VirtualTimeScheduler.create();
  private final LiveClock clock = new LiveClock(() -> scheduler.now(TimeUnit.NANOSECONDS));
  private final End connection = new End();
  private final PeerWatch watch = new PeerWatch(connection, LiveTimers.of(scheduler, clock));
  private final List<String> ends = new ArrayList<>();

  PeerWatchTest() {
    watch.silent().subscribe(nothing -> {}, failed -> ends.add(failed.getMessage()));
    watch.begin(LIFETIME);
  }

  private void run(Duration time) {
    for (long i = 0; i < time.dividedBy(LiveClock.TICK); i++) {
      scheduler.advanceTimeBy(LiveClock.TICK);
      clock.tick();
    }
  }

  @Test
  void aSilentPeer_isToldWhy_andEndsTheConnection() {
    run(LOOK.multipliedBy(3));
    watch.heard();
    run(LIFETIME);
    assertThat(ends).isEmpty();
    run(LOOK.multipliedBy(2));
    assertThat(ends).containsExactly("keep-alive frames must come within 8000 ms (none did)");
    assertThat(connection.told).isEqualTo(ends);
    run(LIFETIME.multipliedBy(3));
    assertThat(ends).hasSize(1);
  }

  @Test
  void aPeerThatSendsAFrameALifetime_isKept() {
    for (int i = 0; i < 100; i++) {
      run(LIFETIME.minus(LOOK));
      watch.heard();
    }
    assertThat(ends).isEmpty();
  }

  @Test
  void aStandstill_costsThePeerNothing_untilItsFramesWereRead() {
    watch.heard();
    run(LIFETIME.minus(LOOK));
    scheduler.advanceTimeBy(LIFETIME.multipliedBy(100));
    assertThat(ends).as("overdue looks").isEmpty();
    watch.heard(); // waited in the socket
    run(LIFETIME);
    assertThat(ends).isEmpty();
    run(LOOK.multipliedBy(2));
    assertThat(ends).hasSize(1);
  }

  @Test
  void aConnectionThatIsGone_isNotWatched() {
    connection.closed.tryEmitEmpty();
    run(LIFETIME.multipliedBy(3));
    assertThat(ends).isEmpty();
  }

  /// One end of a connection that carries nothing.
  private static final class End implements DuplexConnection {
    final Sinks.Empty<Void> closed = Sinks.empty();
    final List<String> told = new ArrayList<>();

    @Override
    public void sendFrame(int streamId, ByteBuf frame) {
      frame.release();
    }

    @Override
    public void sendErrorAndClose(RSocketErrorException error) {
      told.add(error.getMessage());
    }

    @Override
    public Flux<ByteBuf> receive() {
      return Flux.never();
    }

    @Override
    public ByteBufAllocator alloc() {
      return ByteBufAllocator.DEFAULT;
    }

    @Override
    public SocketAddress remoteAddress() {
      return new InetSocketAddress(0);
    }

    @Override
    public Mono<Void> onClose() {
      return closed.asMono();
    }

    @Override
    public void dispose() {
      closed.tryEmitEmpty();
    }
  }
}
