package io.penstock.wire.transport.tcp;

import static io.penstock.wire.transport.tcp.TcpPair.gauges;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.penstock.testkit.Eventually;
import io.penstock.wire.transport.ConnectionLimits;
import io.penstock.wire.transport.TransportFailure.FrameLengthException;
import io.penstock.wire.transport.TransportFailure.SendQueueOverrunException;
import io.penstock.wire.transport.TransportKind;
import io.penstock.wire.transport.frame.FrameReader;
import io.rsocket.Closeable;
import io.rsocket.DuplexConnection;
import io.rsocket.exceptions.ConnectionErrorException;
import io.rsocket.frame.ErrorFrameCodec;
import io.rsocket.transport.ClientTransport;
import io.rsocket.transport.ServerTransport;
import java.net.ConnectException;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.Disposable;

/// What every transport of frames keeps, whatever it is made of. An implementation gives both sides; every buffer is
/// counted.
@Timeout(60)
public abstract class TransportContract {
  public final TcpPair pair = new TcpPair();
  private Closeable listening;

  /// A server with the limits and the ledger of `pair`.
  public abstract ServerTransport<? extends Closeable> server();

  /// A client of what `server()` listens on.
  public abstract ClientTransport client(Closeable listening);

  /// A client of a place where nothing listens.
  public abstract ClientTransport clientWithoutServer();

  public abstract TransportKind kind();

  @AfterEach
  void nothingIsHeld() {
    if (listening != null) {
      listening.dispose();
      listening.onClose().block(TcpPair.PATIENCE);
    }
    pair.close();
  }

  private Closeable listen() {
    listening = requireNonNull(server().start(pair::collect).block(TcpPair.PATIENCE));
    return listening;
  }

  private TcpPair.Two connect() {
    DuplexConnection client = requireNonNull(client(listen()).connect().block(TcpPair.PATIENCE));
    return new TcpPair.Two(client, pair.accepted(0));
  }

  @Test
  void frames_ofAnyLength_passBothWaysUnchanged() {
    TcpPair.Two two = connect();
    FrameReader up = FrameReader.unbounded(two.server());
    FrameReader down = FrameReader.unbounded(two.client());
    int[] sizes = {6, 7, 125, 126, 127, 65_535, 65_536, 1 << 20, ConnectionLimits.LONGEST_FRAME};

    for (int size : sizes) {
      two.client().sendFrame(1, pair.buffer(bytes(size, size)));
      two.server().sendFrame(1, pair.buffer(bytes(size, size + 1)));
    }

    Eventually.holds("all came", () -> up.count.get() == sizes.length && down.count.get() == sizes.length);
    for (int i = 0; i < sizes.length; i++) {
      assertThat(up.frames.get(i)).as("%d bytes up", sizes[i]).isEqualTo(bytes(sizes[i], sizes[i]));
      assertThat(down.frames.get(i)).as("%d bytes down", sizes[i]).isEqualTo(bytes(sizes[i], sizes[i] + 1));
    }
    assertThat(gauges(two.client()).transport()).isEqualTo(kind());
    assertThat(gauges(two.server()).transport()).isEqualTo(kind());
  }

  @Test
  void frames_ofOneSender_keepTheirOrder() {
    TcpPair.Two two = connect();
    FrameReader reader = FrameReader.unbounded(two.server());
    Random random = new Random(7);

    for (int i = 0; i < 1_000; i++) {
      ByteBuf frame = pair.ledger.directBuffer();
      two.client().sendFrame(1, frame.writeInt(i).writeZero(2 + random.nextInt(3_000)));
    }

    Eventually.holds("all came", () -> reader.count.get() == 1_000);
    for (int i = 0; i < 1_000; i++) {
      assertThat(java.nio.ByteBuffer.wrap(reader.frames.get(i)).getInt()).isEqualTo(i);
    }
  }

  @Test
  void receive_withoutDemand_takesNoMoreAndKeepsTheRestWithTheSender() {
    TcpPair.Two two = connect();
    FrameReader reader = new FrameReader(0);
    two.server().receive().subscribe(reader);
    for (int i = 0; i < 300; i++) {
      two.client().sendFrame(1, pair.marked(100_000, i % 100));
    }
    reader.request(3);
    Eventually.holds("three came", () -> reader.count.get() == 3);
    Eventually.holds("the rest waits here", () -> gauges(two.client()).queuedBytes() > 1 << 20);

    assertThat(reader.count).hasValue(3);

    reader.request(Long.MAX_VALUE);
    Eventually.holds("all came", () -> reader.count.get() == 300);
  }

  @Test
  void stream0_overtakesWhatWaits() {
    TcpPair.Two two = connect();
    FrameReader reader = new FrameReader(0);
    two.server().receive().subscribe(reader);
    for (int i = 0; i < 300; i++) {
      two.client().sendFrame(1, pair.marked(100_000, 1));
    }
    two.client().sendFrame(0, pair.marked(6, 2));

    reader.request(Long.MAX_VALUE);

    Eventually.holds("all came", () -> reader.count.get() == 301);
    int control = 0;
    while (reader.frames.get(control)[0] != 2) {
      control++;
    }
    assertThat(control).as("frames before the one of stream 0").isLessThan(200);
  }

  @Test
  void sendQueue_isBounded() {
    pair.limits = ConnectionLimits.defaults().withMaxFrameBytes(1 << 20).withMaxQueuedBytes(2 << 20)
        .withCloseGrace(Duration.ofMillis(50));
    TcpPair.Two two = connect();
    two.server().receive().subscribe(new FrameReader(0));
    Throwable[] why = new Throwable[1];
    two.client().onClose().subscribe(nothing -> {}, failed -> why[0] = failed);

    for (int i = 0; i < 2_000 && !two.client().isDisposed(); i++) {
      two.client().sendFrame(1, pair.marked(100_000, 1));
    }

    Eventually.holds("it ended", () -> why[0] != null);
    assertThat(why[0]).isInstanceOf(SendQueueOverrunException.class);
    Eventually.holds("its peak is told", () -> pair.peakQueuedBytes.get() > 0);
    assertThat(pair.peakQueuedBytes.get()).isLessThanOrEqualTo((2 << 20) + 100L);
  }

  @Test
  void dispose_withWaitingFrames_flushesThemAndCompletesThePeer() {
    TcpPair.Two two = connect();
    for (int i = 0; i < 20; i++) {
      two.client().sendFrame(1, pair.marked(100_000, 1));
    }
    two.client().dispose();

    FrameReader reader = FrameReader.unbounded(two.server());

    two.client().onClose().block(TcpPair.PATIENCE);
    Eventually.holds("the peer's side ended", () -> reader.ended());
    assertThat(reader.count).hasValue(20);
    assertThat(reader.error).isNull();
    ByteBuf late = pair.marked(100, 1);
    two.client().sendFrame(1, late);
    assertThat(late.refCnt()).isZero();
  }

  @Test
  void sendErrorAndClose_isTheLastFrameThePeerHears() {
    TcpPair.Two two = connect();
    FrameReader reader = FrameReader.unbounded(two.server());
    two.client().sendFrame(1, pair.marked(1_000, 1));

    two.client().sendErrorAndClose(new ConnectionErrorException("told so"));

    Eventually.holds("the peer's side ended", () -> reader.ended());
    assertThat(reader.count).hasValue(2);
    ByteBuf error = pair.buffer(reader.frames.get(1));
    assertThat(ErrorFrameCodec.dataUtf8(error)).isEqualTo("told so");
    error.release();
  }

  @Test
  void receive_cancelled_endsBothSides() {
    TcpPair.Two two = connect();
    FrameReader reader = FrameReader.unbounded(two.server());
    FrameReader other = FrameReader.unbounded(two.client());
    two.client().sendFrame(1, pair.marked(100, 1));
    Eventually.holds("one came", () -> reader.count.get() == 1);

    reader.cancel();

    two.server().onClose().block(TcpPair.PATIENCE);
    Eventually.holds("the other side ended", () -> other.ended());
  }

  @Test
  void frames_thatNoneMayBe_endTheConnectionOfTheirSender() {
    pair.limits = ConnectionLimits.defaults().withMaxFrameBytes(1 << 20);
    TcpPair.Two two = connect();
    FrameReader.unbounded(two.server());

    two.client().sendFrame(1, pair.marked((1 << 20) + 1, 1));

    assertThatThrownBy(() -> two.client().onClose().block(TcpPair.PATIENCE))
        .isInstanceOf(FrameLengthException.class);
  }

  @Test
  void connect_cancelledAtAnyMoment_leavesNothing() {
    Closeable server = listen();
    for (int i = 0; i < 30; i++) {
      Disposable connecting = client(server).connect().subscribe(DuplexConnection::dispose);
      if (i % 3 == 0) {
        Thread.onSpinWait();
      } else if (i % 3 == 1) {
        java.util.concurrent.locks.LockSupport.parkNanos(200_000L * i);
      }
      connecting.dispose();
    }
    for (DuplexConnection accepted : pair.accepted) {
      FrameReader.unbounded(accepted);
    }
    assertThat(requireNonNull(client(server).connect().block(TcpPair.PATIENCE)).isDisposed()).isFalse();
  }

  @Test
  void connect_whereNothingListens_saysSo() {
    assertThatThrownBy(() -> clientWithoutServer().connect().block(TcpPair.PATIENCE))
        .hasCauseInstanceOf(ConnectException.class).hasMessageContaining("no node is listening at");
  }

  @Test
  void listener_disposed_endsItsConnectionsInOrder() {
    TcpPair.Two two = connect();
    FrameReader client = FrameReader.unbounded(two.client());
    FrameReader.unbounded(two.server());

    listening.dispose();

    listening.onClose().block(TcpPair.PATIENCE);
    Eventually.holds("the client's side ended", () -> client.ended());
    assertThat(client.error).isNull();
  }

  static byte[] bytes(int size, int seed) {
    byte[] bytes = new byte[size];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }
}
