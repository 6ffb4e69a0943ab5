package io.penstock.wire.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.penstock.wire.transport.AwakeLoops;
import io.penstock.wire.transport.ConnectionLimits;
import io.penstock.wire.transport.ConnectionListener;
import io.rsocket.frame.CancelFrameCodec;
import io.rsocket.frame.FrameHeaderCodec;
import io.rsocket.frame.FrameType;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Mono;
import reactor.netty.Connection;
import reactor.netty.DisposableServer;
import reactor.netty.resources.LoopResources;
import reactor.netty.tcp.TcpClient;
import reactor.netty.tcp.TcpServer;

@Timeout(300)
final class NextFrameTest {
  private int waits;
  private final NextFrame next = new NextFrame(() -> waits++);

  private boolean isAwaitedAfter(FrameType type) {
    ByteBuf frame = frame(type);
    next.passes(frame);
    frame.release();
    int before = waits;
    next.await();
    return waits > before;
  }

  private static ByteBuf frame(FrameType type) {
    return FrameHeaderCodec.encode(ByteBufAllocator.DEFAULT, 1, type, 0);
  }

  @Test
  void theNextFrame_isAwaited_whileTheLastRequestHasOneAnswer() {
    assertThat(isAwaitedAfter(FrameType.SETUP)).as("before the first request").isFalse();
    assertThat(isAwaitedAfter(FrameType.REQUEST_RESPONSE)).isTrue();
    assertThat(isAwaitedAfter(FrameType.PAYLOAD)).as("its answer").isTrue();
    assertThat(isAwaitedAfter(FrameType.REQUEST_STREAM)).isFalse();
    assertThat(isAwaitedAfter(FrameType.PAYLOAD)).as("an item of a stream").isFalse();
    assertThat(isAwaitedAfter(FrameType.REQUEST_RESPONSE)).isTrue();
    assertThat(isAwaitedAfter(FrameType.REQUEST_CHANNEL)).isFalse();
  }

  @Test
  void theNextFrame_isNotAwaited_behindALongAnswer() {
    assertThat(isAwaitedAfter(FrameType.REQUEST_RESPONSE)).isTrue();
    next.moved(NextFrame.MOST_BYTES);
    assertThat(isAwaitedAfter(FrameType.PAYLOAD)).isTrue();
    next.moved(1);
    assertThat(isAwaitedAfter(FrameType.PAYLOAD)).isFalse();
    assertThat(isAwaitedAfter(FrameType.REQUEST_RESPONSE)).as("the next request").isTrue();
  }

  @Test
  void aFrameWithoutAWholeHeader_changesNothing() {
    assertThat(isAwaitedAfter(FrameType.REQUEST_RESPONSE)).isTrue();
    next.passes(Unpooled.EMPTY_BUFFER);
    next.await();
    assertThat(waits).isEqualTo(2);
  }

  /// Opens a connection at one end of a socket, whose other end sends it `sent`.
  ///
  /// @param opened is given the connection
  private static void connect(AwakeLoops awake, ByteBuf sent, Consumer<TcpConnection> opened, CountDownLatch heard)
      throws InterruptedException {
    LoopResources loops = LoopResources.create("next", 1, true);
    DisposableServer server = TcpServer.create().host("127.0.0.1").port(0).runOn(loops)
        .handle((in, out) -> out.sendObject(sent).then().then(Mono.never())).bindNow();
    try {
      Connection connection = TcpClient.create().remoteAddress(server::address).runOn(loops).connectNow();
      connection.channel().eventLoop().execute(() -> opened.accept(TcpConnection.open(connection, Framing.LENGTHS,
          ConnectionLimits.defaults(), ConnectionListener.noop(), awake)));
      heard.await();
      connection.disposeNow();
    } finally {
      server.disposeNow();
      loops.disposeLater(Duration.ZERO, Duration.ofSeconds(10)).block();
    }
  }

  @Test
  void aConnectionThatHasSentSuchARequest_keepsItsLoopAwake() throws InterruptedException {
    CountDownLatch heard = new CountDownLatch(1);
    connect(counting(heard), Unpooled.EMPTY_BUFFER, connection -> {
      connection.sendFrame(1, CancelFrameCodec.encode(ByteBufAllocator.DEFAULT, 1));
      connection.sendFrame(1, frame(FrameType.REQUEST_RESPONSE));
    }, heard);
    assertThat(heard.getCount()).isZero();
  }

  @Test
  void aConnectionThatHasReadSuchARequest_keepsItsLoopAwake() throws InterruptedException {
    ByteBuf request = frame(FrameType.REQUEST_RESPONSE);
    ByteBuf sent = Unpooled.wrappedBuffer(Unpooled.buffer(3).writeMedium(request.readableBytes()), request);
    CountDownLatch heard = new CountDownLatch(1);
    connect(counting(heard), sent, connection -> connection.receive().subscribe(), heard);
    assertThat(heard.getCount()).isZero();
  }

  /// Loops that ask for the time when they are to stay awake.
  private static AwakeLoops counting(CountDownLatch heard) {
    return new AwakeLoops(Duration.ofNanos(1), () -> {
      heard.countDown();
      return System.nanoTime();
    });
  }
}
