package io.penstock.wire.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.rsocket.DuplexConnection;
import io.rsocket.exceptions.RejectedSetupException;
import io.rsocket.frame.ErrorFrameCodec;
import io.rsocket.frame.FrameHeaderCodec;
import io.rsocket.frame.FrameType;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.reactivestreams.Subscription;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;

/// Two bare connections on loopback, without RSocket above them.
@Timeout(60)
class TcpConnectionTest {
  private final TcpPair pair = new TcpPair();

  @AfterEach
  void nothingIsHeld() {
    pair.close();
  }

  @Test
  void send_longestFrame_arrivesWhole() {
    Two two = connect();
    Reader reader = Reader.unbounded(two.server);
    byte[] frame = bytes(ConnectionLimits.LONGEST_FRAME, 7);

    two.client.sendFrame(1, buffer(frame));

    Eventually.holds("the frame arrived", () -> reader.frames.size() == 1);
    assertThat(reader.frames.get(0)).isEqualTo(frame);
    assertThat(gauges(two.client).writtenBytes()).isEqualTo(3L + frame.length);
    assertThat(gauges(two.server).readBytes()).isEqualTo(3L + frame.length);
  }

  @Test
  void send_fromManyThreads_deliversEachFrameWholeAndInItsOrder() throws InterruptedException {
    Two two = connect();
    Reader reader = Reader.unbounded(two.server);
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      for (int t = 0; t < 4; t++) {
        int stream = t + 1;
        threads.execute(() -> {
          for (int i = 0; i < 2_000; i++) {
            two.client.sendFrame(stream, pair.ledger.directBuffer(12).writeInt(stream).writeInt(i).writeInt(stream ^ i));
          }
        });
      }
    }

    Eventually.holds("8,000 frames arrived", () -> reader.count.get() == 8_000);
    int[] next = new int[5];
    for (byte[] frame : reader.frames) {
      int stream = intAt(frame, 0);
      assertThat(intAt(frame, 4)).isEqualTo(next[stream]++);
      assertThat(intAt(frame, 8)).isEqualTo(stream ^ intAt(frame, 4));
    }
  }

  @Test
  void send_streamZeroUnderLoad_overtakesWhatWaits() {
    Two two = connect();
    int frames = 300; // 30 MB: far more than sockets and channel hold
    for (int i = 0; i < frames; i++) {
      two.client.sendFrame(1, marked(100_000, 1));
    }
    Eventually.holds("the channel is full", () -> gauges(two.client).channelBytes() > 0);
    two.client.sendFrame(0, marked(20, 9));

    Reader reader = Reader.unbounded(two.server);

    Eventually.holds("all arrived", () -> reader.count.get() == frames + 1);
    List<Integer> marks = reader.frames.stream().map(frame -> (int) frame[0]).toList();
    assertThat(marks.indexOf(9)).isBetween(0, frames - 100);
  }

  @Test
  void send_bulkFromATaskOfTheLoop_leavesBeforeThatTaskEnds_smallFramesAfterIt() {
    Two two = connect();
    Reader reader = Reader.unbounded(two.client);
    List<Long> written = Collections.synchronizedList(new ArrayList<>());
    two.server.receive().subscribe(asked -> { // on the event loop
      two.server.sendFrame(1, marked(256 << 10, 1));
      written.add(gauges(two.server).writtenBytes());
      two.server.sendFrame(1, marked(100, 2));
      written.add(gauges(two.server).writtenBytes());
    });

    two.client.sendFrame(1, marked(100, 0));

    Eventually.holds("both frames arrived", () -> reader.frames.size() == 2);
    assertThat(written).containsExactly(3L + (256 << 10), 3L + (256 << 10));
  }

  @Test
  void send_bulkWithoutEndFromATaskOfTheLoop_stopsLeavingAtOnceSoThatTheLoopIsHeard() {
    Two two = connect();
    Reader reader = Reader.unbounded(two.client);
    int frames = 40;
    List<Long> written = Collections.synchronizedList(new ArrayList<>());
    two.server.receive().subscribe(asked -> {
      for (int i = 0; i < frames; i++) {
        two.server.sendFrame(1, marked(1 << 20, i));
      }
      written.add(gauges(two.server).writtenBytes());
    });

    two.client.sendFrame(1, marked(100, 0));

    Eventually.holds("all frames arrived", () -> reader.frames.size() == frames);
    assertThat(written).singleElement().satisfies(bytes -> assertThat(bytes).isPositive().isLessThan(10 << 20));
  }

  @Test
  void send_moreThanTheBound_closesWithATypedErrorThatThePeerHears() {
    pair.limits = ConnectionLimits.defaults().withMaxFrameBytes(1 << 20).withMaxQueuedBytes(1 << 20);
    Two two = connect();
    fillUntilStuck(two.client);
    while (!two.client.isDisposed()) { // nobody reads yet
      two.client.sendFrame(1, marked(65_536, 1));
      assertThat(gauges(two.client).queuedBytes()).isLessThanOrEqualTo(1 << 20);
    }
    Reader reader = Reader.unbounded(two.server);

    Eventually.holds("both closed", () -> pair.causes.size() == 1 && reader.ended());
    assertThat(pair.causes.get(0)).isInstanceOf(SendQueueOverrunException.class).hasMessageContaining("must be <= 1048576 bytes");
    byte[] last = reader.frames.get(reader.frames.size() - 1);
    assertThat(new String(last, 10, last.length - 10, StandardCharsets.UTF_8)).startsWith("send queue must be <=");
    assertThat(gauges(two.client).peakQueuedBytes()).isLessThanOrEqualTo(1 << 20);
    assertThat(gauges(two.client).queuedBytes()).isZero();
  }

  @Test
  void send_toOneSlowReader_leavesAnotherConnectionAlone() {
    Two slow = connect();
    Two quick = connect();
    Reader reader = Reader.unbounded(quick.server);
    for (int i = 0; i < 200; i++) {
      slow.client.sendFrame(1, marked(100_000, 1));
    }
    quick.client.sendFrame(1, marked(100_000, 2));

    Eventually.holds("the quick one got its frame", () -> reader.count.get() == 1);
    assertThat(gauges(slow.client).queuedBytes()).isPositive();
  }

  @Test
  void send_afterDispose_isReleased() {
    Two two = connect();
    two.client.dispose();
    ByteBuf late = marked(100, 1);

    two.client.sendFrame(1, late);

    assertThat(late.refCnt()).isZero();
    assertThat(two.client.isDisposed()).isTrue();
    two.client.onClose().block(TcpPair.PATIENCE);
  }

  @Test
  void dispose_withWaitingFrames_flushesThemFirst() {
    Two two = connect();
    for (int i = 0; i < 100; i++) {
      two.client.sendFrame(1, marked(100_000, 1));
    }
    two.client.dispose();

    Reader reader = Reader.unbounded(two.server);

    two.client.onClose().block(TcpPair.PATIENCE);
    Eventually.holds("all arrived before the end", () -> reader.ended());
    assertThat(reader.count).hasValue(100);
  }

  @Test
  void dispose_whenThePeerDoesNotRead_endsWithinTheGrace() {
    pair.limits = ConnectionLimits.defaults().withCloseGrace(Duration.ofMillis(100));
    Two two = connect();
    for (int i = 0; i < 300; i++) {
      two.client.sendFrame(1, marked(100_000, 1));
    }
    two.client.dispose();
    two.client.dispose();

    two.client.onClose().block(TcpPair.PATIENCE);
    assertThat(gauges(two.client).queuedBytes()).isZero();
  }

  @Test
  void sendErrorAndClose_isTheLastFrameThePeerHears() {
    Two two = connect();
    Reader reader = Reader.unbounded(two.server);
    two.client.sendFrame(1, marked(1_000, 1));
    two.client.sendErrorAndClose(new RejectedSetupException("no room"));

    two.client.onClose().block(TcpPair.PATIENCE);
    Eventually.holds("the peer's side ended", () -> reader.completed);
    assertThat(reader.count).hasValue(2);
    ByteBuf error = buffer(reader.frames.get(1));
    assertThat(FrameHeaderCodec.frameType(error)).isEqualTo(FrameType.ERROR);
    assertThat(ErrorFrameCodec.dataUtf8(error)).isEqualTo("no room");
    error.release();
    assertThat(reader.error).isNull();
  }

  @Test
  void onClose_isToldOnceToEverySubscriber() {
    Two two = connect();
    AtomicInteger told = new AtomicInteger();
    Disposable first = two.client.onClose().subscribe(nothing -> {}, failed -> {}, told::incrementAndGet);
    two.client.dispose();
    two.client.onClose().block(TcpPair.PATIENCE);
    Disposable second = two.client.onClose().subscribe(nothing -> {}, failed -> {}, told::incrementAndGet);

    Eventually.holds("both were told", () -> told.get() == 2);
    assertThat(first.isDisposed() && second.isDisposed()).isTrue();
  }

  @Test
  void receive_withoutDemand_readsNoMoreThanOneBuffer() {
    Two two = connect();
    Reader reader = new Reader(0);
    two.server.receive().subscribe(reader);
    for (int i = 0; i < 300; i++) {
      two.client.sendFrame(1, marked(100_000, i % 100));
    }
    reader.request(1);
    Eventually.holds("one came", () -> reader.count.get() == 1);
    Eventually.holds("the sender is stuck", () -> gauges(two.client).channelBytes() > 0);

    assertThat(reader.count).hasValue(1);
    assertThat(gauges(two.server).readBytes()).isLessThan(2L << 20);

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
    Two two = connect();
    Reader reader = Reader.unbounded(two.server);
    two.client.sendFrame(1, marked(100, 1));
    Eventually.holds("one came", () -> reader.count.get() == 1);

    reader.cancel();

    two.server.onClose().block(TcpPair.PATIENCE);
    assertThat(reader.error).isNull();
  }

  @Test
  void receive_secondSubscriber_isRefused() {
    Two two = connect();
    Reader.unbounded(two.server);
    Reader second = Reader.unbounded(two.server);

    assertThat(second.error).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void receive_afterTheEnd_tellsIt() {
    Two two = connect();
    two.server.dispose();
    two.server.onClose().block(TcpPair.PATIENCE);

    Reader late = Reader.unbounded(two.server);

    Eventually.holds("told", () -> late.completed);
  }

  @Test
  void receive_failingSubscriber_closesWithItsError() {
    Two two = connect();
    IllegalStateException broken = new IllegalStateException("broken reader");
    two.server.receive().subscribe(new BaseSubscriber<>() {
      @Override
      protected void hookOnSubscribe(Subscription subscription) {
        requestUnbounded();
      }

      @Override
      protected void hookOnNext(ByteBuf frame) {
        throw broken;
      }
    });
    two.client.sendFrame(1, marked(100, 1));

    Reader reader = Reader.unbounded(two.client);
    Eventually.holds("the peer's side ended", () -> reader.completed);
  }

  @Test
  void receive_failureOfAReaderThatAskedFromWithin_stillCloses() {
    Two two = connect();
    two.client.sendFrame(1, marked(100, 1));
    two.client.sendFrame(1, marked(100, 2));
    Eventually.holds("both are on their way", () -> gauges(two.client).writtenBytes() == 206);
    two.server.receive().subscribe(new BaseSubscriber<>() {
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

    Reader reader = Reader.unbounded(two.client);
    Eventually.holds("the peer's side ended", () -> reader.completed);
    two.server.onClose().onErrorComplete().block(TcpPair.PATIENCE);
  }

  @Test
  void accept_moreThanMaxConnections_isRefusedInWords() {
    TcpListener few = pair.listen(pair.server(options -> options.withMaxConnections(1)), pair::collect);
    DuplexConnection first = pair.client(few).connect().block(TcpPair.PATIENCE);
    pair.accepted(0);
    Reader reader = new Reader(Long.MAX_VALUE);
    DuplexConnection second =
        pair.client(few).connect().doOnNext(connection -> connection.receive().subscribe(reader)).block(TcpPair.PATIENCE);

    second.sendFrame(0, marked(100, 1));

    Eventually.holds("the second was refused", () -> reader.ended());
    byte[] refusal = reader.frames.get(0);
    assertThat(new String(refusal, 10, refusal.length - 10, StandardCharsets.UTF_8))
        .isEqualTo("connections must be <= 1 (was 2)");
    assertThat(first.isDisposed()).isFalse();
    first.dispose();
  }

  private record Two(DuplexConnection client, DuplexConnection server) {}

  private Two connect() {
    int index = pair.accepted.size();
    TcpListener listener = pair.listen(pair::collect);
    DuplexConnection client = pair.client(listener).connect().block(TcpPair.PATIENCE);
    return new Two(client, pair.accepted(index));
  }

  /// Sends to a peer that does not read until the sockets take no more and half of the queue is full.
  private void fillUntilStuck(DuplexConnection connection) {
    long before;
    do { // the loop must have had its chance to write: only then does a full queue mean a full socket
      while (gauges(connection).queuedBytes() < 512 << 10) {
        connection.sendFrame(1, marked(65_536, 1));
      }
      before = gauges(connection).writtenBytes();
      LockSupport.parkNanos(20_000_000);
    } while (before == 0 || gauges(connection).writtenBytes() != before || gauges(connection).queuedBytes() < 512 << 10);
  }

  private static ConnectionGauges gauges(DuplexConnection connection) {
    return (ConnectionGauges) connection;
  }

  private ByteBuf marked(int size, int mark) {
    return pair.ledger.directBuffer(size).writeByte(mark).writeZero(size - 1);
  }

  private ByteBuf buffer(byte[] bytes) {
    return pair.ledger.directBuffer(bytes.length).writeBytes(bytes);
  }

  private static byte[] bytes(int size, int seed) {
    byte[] bytes = new byte[size];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  private static int intAt(byte[] frame, int index) {
    return ByteBuffer.wrap(frame).getInt(index);
  }

  /// Copies what it gets.
  static final class Reader extends BaseSubscriber<ByteBuf> {
    final List<byte[]> frames = Collections.synchronizedList(new ArrayList<>());
    final AtomicInteger count = new AtomicInteger();
    volatile Throwable error;
    volatile boolean completed;
    private final long first;

    Reader(long first) {
      this.first = first;
    }

    static Reader unbounded(DuplexConnection connection) {
      Reader reader = new Reader(Long.MAX_VALUE);
      connection.receive().subscribe(reader);
      return reader;
    }

    @Override
    protected void hookOnSubscribe(Subscription subscription) {
      if (first > 0) {
        request(first);
      }
    }

    @Override
    protected void hookOnNext(ByteBuf frame) {
      frames.add(ByteBufUtil.getBytes(frame));
      count.incrementAndGet();
    }

    boolean ended() {
      return completed || error != null;
    }

    @Override
    protected void hookOnComplete() {
      completed = true;
    }

    @Override
    protected void hookOnError(Throwable thrown) {
      error = thrown;
    }
  }
}
