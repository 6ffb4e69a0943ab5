package io.penstock.wire.transport.tcp;

import static io.penstock.wire.transport.tcp.TcpPair.gauges;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.penstock.testkit.Eventually;
import io.penstock.wire.transport.ConnectionLimits;
import io.penstock.wire.transport.ConnectionSlots;
import io.penstock.wire.transport.frame.FrameReader;
import io.rsocket.DuplexConnection;
import io.rsocket.exceptions.RejectedSetupException;
import io.rsocket.frame.CancelFrameCodec;
import io.rsocket.frame.ErrorFrameCodec;
import io.rsocket.frame.FrameHeaderCodec;
import io.rsocket.frame.FrameType;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.reactivestreams.Subscription;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;

/// How a connection receives and ends: two bare connections on loopback, without RSocket above them.
@Timeout(60)
final class TcpConnectionTest {
  private final TcpPair pair = new TcpPair();

  @AfterEach
  void nothingIsHeld() {
    pair.close();
  }

  @Test
  void send_afterDispose_isReleased() {
    TcpPair.Two two = pair.connect();
    two.client().dispose();
    ByteBuf late = pair.marked(100, 1);

    two.client().sendFrame(1, late);

    assertThat(late.refCnt()).isZero();
    assertThat(two.client().isDisposed()).isTrue();
    two.client().onClose().block(TcpPair.PATIENCE);
  }

  @Test
  void dispose_withWaitingFrames_flushesThemFirst() {
    TcpPair.Two two = pair.connect();
    for (int i = 0; i < 100; i++) {
      two.client().sendFrame(1, pair.marked(100_000, 1));
    }
    two.client().dispose();

    FrameReader reader = FrameReader.unbounded(two.server());

    two.client().onClose().block(TcpPair.PATIENCE);
    Eventually.holds("all arrived before the end", () -> reader.ended());
    assertThat(reader.count).hasValue(100);
  }

  @Test
  void dispose_whenThePeerDoesNotRead_endsWithinTheGrace() {
    pair.limits = ConnectionLimits.defaults().withCloseGrace(Duration.ofMillis(100));
    TcpPair.Two two = pair.connect();
    for (int i = 0; i < 300; i++) {
      two.client().sendFrame(1, pair.marked(100_000, 1));
    }
    two.client().dispose();
    two.client().dispose();

    two.client().onClose().block(TcpPair.PATIENCE);
    assertThat(gauges(two.client()).queuedBytes()).isZero();
  }

  @Test
  void sendErrorAndClose_isTheLastFrameThePeerHears() {
    TcpPair.Two two = pair.connect();
    FrameReader reader = FrameReader.unbounded(two.server());
    two.client().sendFrame(1, pair.marked(1_000, 1));
    two.client().sendErrorAndClose(new RejectedSetupException("no room"));

    two.client().onClose().block(TcpPair.PATIENCE);
    Eventually.holds("the peer's side ended", () -> reader.completed);
    assertThat(reader.count).hasValue(2);
    ByteBuf error = pair.buffer(reader.frames.get(1));
    assertThat(FrameHeaderCodec.frameType(error)).isEqualTo(FrameType.ERROR);
    assertThat(ErrorFrameCodec.dataUtf8(error)).isEqualTo("no room");
    error.release();
    assertThat(reader.error).isNull();
  }

  @Test
  void cancel_onAConnectionThatEnds_tellsNoEndInItself() throws Exception {
    TcpPair.Two two = pair.connect();
    for (int i = 0; i < 300; i++) { // which the peer does not read: the channel stays open
      two.client().sendFrame(1, pair.marked(100_000, 1));
    }
    AtomicInteger told = new AtomicInteger();
    two.client().onClose().subscribe(nothing -> {}, failed -> {}, told::incrementAndGet);
    CompletableFuture<List<Integer>> seen = new CompletableFuture<>();
    ((TcpConnection) two.client()).onLoop(() -> {
      two.client().dispose();
      two.client().sendFrame(1, CancelFrameCodec.encode(pair.ledger, 1));
      int afterCancel = told.get();
      two.client().sendFrame(1, pair.marked(100, 1));
      seen.complete(List.of(afterCancel, told.get()));
    });

    assertThat(seen.get(20, TimeUnit.SECONDS)).as("told after a cancel, and after a frame of a sender")
        .containsExactly(0, 1);
  }

  @Test
  void onClose_isToldOnceToEverySubscriber() {
    TcpPair.Two two = pair.connect();
    AtomicInteger told = new AtomicInteger();
    Disposable first = two.client().onClose().subscribe(nothing -> {}, failed -> {}, told::incrementAndGet);
    two.client().dispose();
    two.client().onClose().block(TcpPair.PATIENCE);
    Disposable second = two.client().onClose().subscribe(nothing -> {}, failed -> {}, told::incrementAndGet);

    Eventually.holds("both were told", () -> told.get() == 2);
    assertThat(first.isDisposed() && second.isDisposed()).isTrue();
  }

  @Test
  void receive_withoutDemand_readsNoMoreThanOneBuffer() {
    TcpPair.Two two = pair.connect();
    FrameReader reader = new FrameReader(0);
    two.server().receive().subscribe(reader);
    for (int i = 0; i < 300; i++) {
      two.client().sendFrame(1, pair.marked(100_000, i % 100));
    }
    reader.request(1);
    Eventually.holds("one came", () -> reader.count.get() == 1);
    Eventually.holds("the sender is stuck", () -> gauges(two.client()).channelBytes() > 0);

    assertThat(reader.count).hasValue(1);
    assertThat(gauges(two.server()).readBytes()).isLessThan(2L << 20);

    reader.request(9);
    Eventually.holds("ten came", () -> reader.count.get() == 10);
    reader.request(Long.MAX_VALUE);
    Eventually.holds("all came", () -> reader.count.get() == 300);
    for (int i = 0; i < 300; i++) {
      assertThat(reader.frames.get(i)[0]).isEqualTo((byte) (i % 100));
    }
  }

  @Test
  void receive_cancelled_closesTheConnection() {
    TcpPair.Two two = pair.connect();
    FrameReader reader = FrameReader.unbounded(two.server());
    two.client().sendFrame(1, pair.marked(100, 1));
    Eventually.holds("one came", () -> reader.count.get() == 1);

    reader.cancel();

    two.server().onClose().block(TcpPair.PATIENCE);
    assertThat(reader.error).isNull();
  }

  @Test
  void receive_secondSubscriber_isRefused() {
    TcpPair.Two two = pair.connect();
    FrameReader.unbounded(two.server());
    FrameReader second = FrameReader.unbounded(two.server());

    assertThat(second.error).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void receive_afterTheEnd_tellsIt() {
    TcpPair.Two two = pair.connect();
    two.server().dispose();
    two.server().onClose().block(TcpPair.PATIENCE);

    FrameReader late = FrameReader.unbounded(two.server());

    Eventually.holds("told", () -> late.completed);
  }

  @Test
  void receive_failingSubscriber_closesWithItsError() {
    TcpPair.Two two = pair.connect();
    IllegalStateException broken = new IllegalStateException("broken reader");
    two.server().receive().subscribe(new BaseSubscriber<>() {
      @Override
      protected void hookOnSubscribe(Subscription subscription) {
        requestUnbounded();
      }

      @Override
      protected void hookOnNext(ByteBuf frame) {
        throw broken;
      }
    });
    two.client().sendFrame(1, pair.marked(100, 1));

    FrameReader reader = FrameReader.unbounded(two.client());
    Eventually.holds("the peer's side ended", () -> reader.completed);
  }

  @Test
  void receive_failureOfAReaderThatAskedFromWithin_stillCloses() {
    TcpPair.Two two = pair.connect();
    two.client().sendFrame(1, pair.marked(100, 1));
    two.client().sendFrame(1, pair.marked(100, 2));
    Eventually.holds("both are on their way", () -> gauges(two.client()).writtenBytes() == 206);
    two.server().receive().subscribe(new BaseSubscriber<>() {
      @Override
      protected void hookOnSubscribe(Subscription subscription) {
        request(1);
      }

      @Override
      protected void hookOnNext(ByteBuf frame) {
        if (frame.getByte(0) == 2) {
          throw new IllegalStateException("broken reader");
        }
        try {
          requestUnbounded(); // as RSocket does once it has seen the set-up
        } catch (IllegalStateException swallowed) {
          throw new AssertionError("the failure of the second frame must not surface in the first", swallowed);
        }
      }
    });

    FrameReader reader = FrameReader.unbounded(two.client());
    Eventually.holds("the peer's side ended", () -> reader.completed);
    two.server().onClose().onErrorComplete().block(TcpPair.PATIENCE);
  }

  @Test
  void setUp_ofMoreThanThereMayBe_isRefusedInWords() {
    pair.slots = ConnectionSlots.of(1);
    TcpListener few = pair.listen(pair::collect);
    DuplexConnection first = pair.client(few).connect().block(TcpPair.PATIENCE);
    FrameReader firstFrame = FrameReader.unbounded(pair.accepted(0));
    first.sendFrame(0, pair.marked(100, 1));
    Eventually.holds("the first is set up", () -> firstFrame.count.get() == 1);
    FrameReader reader = new FrameReader(Long.MAX_VALUE);
    DuplexConnection second =
        pair.client(few).connect().doOnNext(connection -> connection.receive().subscribe(reader))
            .block(TcpPair.PATIENCE);

    FrameReader.unbounded(pair.accepted(1));
    second.sendFrame(0, pair.marked(100, 1));

    Eventually.holds("the second was refused", () -> reader.ended());
    byte[] refusal = reader.frames.get(0);
    assertThat(new String(refusal, 10, refusal.length - 10, StandardCharsets.UTF_8))
        .isEqualTo("connections must be <= 1 (was 2)");
    assertThat(first.isDisposed()).isFalse();
    first.dispose();
  }
}
