package io.penstock.wire.transport.tcp;

import static io.penstock.wire.transport.tcp.TcpPair.gauges;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.testkit.Eventually;
import io.penstock.wire.transport.ConnectionLimits;
import io.penstock.wire.transport.TransportFailure.SendQueueOverrunException;
import io.penstock.wire.transport.frame.FrameReader;
import io.rsocket.DuplexConnection;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What a connection sends, in which order and how soon: two bare connections on loopback, without RSocket above them.
@Timeout(60)
final class FramePumpTest {
  private final TcpPair pair = new TcpPair();

  @AfterEach
  void nothingIsHeld() {
    pair.close();
  }

  @Test
  void send_longestFrame_arrivesWhole() {
    TcpPair.Two two = pair.connect();
    FrameReader reader = FrameReader.unbounded(two.server());
    byte[] frame = bytes(ConnectionLimits.LONGEST_FRAME, 7);

    two.client().sendFrame(1, pair.buffer(frame));

    Eventually.holds("the frame arrived", () -> reader.frames.size() == 1);
    assertThat(reader.frames.get(0)).isEqualTo(frame);
    assertThat(gauges(two.client()).writtenBytes()).isEqualTo(3L + frame.length);
    assertThat(gauges(two.server()).readBytes()).isEqualTo(3L + frame.length);
  }

  @Test
  void send_fromManyThreads_deliversEachFrameWholeAndInItsOrder() throws InterruptedException {
    TcpPair.Two two = pair.connect();
    FrameReader reader = FrameReader.unbounded(two.server());
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      for (int t = 0; t < 4; t++) {
        int stream = t + 1;
        threads.execute(() -> {
          for (int i = 0; i < 2_000; i++) {
            two.client().sendFrame(stream,
                pair.ledger.directBuffer(12).writeInt(stream).writeInt(i).writeInt(stream ^ i));
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
    TcpPair.Two two = pair.connect();
    int frames = 300; // 30 MB: far more than sockets and channel hold
    for (int i = 0; i < frames; i++) {
      two.client().sendFrame(1, pair.marked(100_000, 1));
    }
    Eventually.holds("the channel is full", () -> gauges(two.client()).channelBytes() > 0);
    two.client().sendFrame(0, pair.marked(20, 9));

    FrameReader reader = FrameReader.unbounded(two.server());

    Eventually.holds("all arrived", () -> reader.count.get() == frames + 1);
    List<Integer> marks = reader.frames.stream().map(frame -> (int) frame[0]).toList();
    assertThat(marks.indexOf(9)).isBetween(0, frames - 100);
  }

  @Test
  void send_bulkFromATaskOfTheLoop_leavesBeforeThatTaskEnds_smallFramesAfterIt() {
    TcpPair.Two two = pair.connect();
    FrameReader reader = FrameReader.unbounded(two.client());
    List<Long> written = Collections.synchronizedList(new ArrayList<>());
    two.server().receive().subscribe(asked -> { // on the event loop
      two.server().sendFrame(1, pair.marked(256 << 10, 1));
      written.add(gauges(two.server()).writtenBytes());
      two.server().sendFrame(1, pair.marked(100, 2));
      written.add(gauges(two.server()).writtenBytes());
    });

    two.client().sendFrame(1, pair.marked(100, 0));

    Eventually.holds("both frames arrived", () -> reader.frames.size() == 2);
    assertThat(written).containsExactly(3L + (256 << 10), 3L + (256 << 10));
  }

  @Test
  void send_bulkWithoutEndFromATaskOfTheLoop_stopsLeavingAtOnceSoThatTheLoopIsHeard() {
    TcpPair.Two two = pair.connect();
    FrameReader reader = FrameReader.unbounded(two.client());
    int frames = 40;
    List<Long> written = Collections.synchronizedList(new ArrayList<>());
    two.server().receive().subscribe(asked -> {
      for (int i = 0; i < frames; i++) {
        two.server().sendFrame(1, pair.marked(1 << 20, i));
      }
      written.add(gauges(two.server()).writtenBytes());
    });

    two.client().sendFrame(1, pair.marked(100, 0));

    Eventually.holds("all frames arrived", () -> reader.frames.size() == frames);
    assertThat(written).singleElement().satisfies(bytes -> assertThat(bytes).isPositive().isLessThan(10 << 20));
  }

  @Test
  void send_moreThanTheBound_closesWithATypedErrorThatThePeerHears() {
    pair.limits = ConnectionLimits.defaults().withMaxFrameBytes(1 << 20).withMaxQueuedBytes(1 << 20);
    TcpPair.Two two = pair.connect();
    fillUntilStuck(two.client());
    while (!two.client().isDisposed()) { // no side reads yet
      two.client().sendFrame(1, pair.marked(65_536, 1));
      assertThat(gauges(two.client()).queuedBytes()).isLessThanOrEqualTo(1 << 20);
    }
    FrameReader reader = FrameReader.unbounded(two.server());

    Eventually.holds("both closed", () -> pair.causes.size() == 1 && reader.ended());
    assertThat(pair.causes.get(0)).isInstanceOf(SendQueueOverrunException.class)
        .hasMessageContaining("must be <= 1048576 bytes");
    byte[] last = reader.frames.get(reader.frames.size() - 1);
    assertThat(new String(last, 10, last.length - 10, StandardCharsets.UTF_8)).startsWith("send queue must be <=");
    assertThat(gauges(two.client()).peakQueuedBytes()).isLessThanOrEqualTo(1 << 20);
    assertThat(gauges(two.client()).queuedBytes()).isZero();
  }

  /// A header has memory of its own, or the frame's with it if that is short.
  @ParameterizedTest
  @CsvSource({"1000, 0", "100, 100"})
  void send_withoutMemoryForTheHeader_closesAndHoldsNoFrame(int frameBytes, int copiedBytes) {
    TcpPair.Two two = pair.connect();
    FrameReader reader = FrameReader.unbounded(two.server());
    pair.ledger.refusedBytes = Framing.MOST_HEADER_BYTES + copiedBytes;
    two.client().sendFrame(1, pair.marked(frameBytes, 1));

    Eventually.holds("both closed", () -> pair.causes.size() == 1 && reader.ended());
    assertThat(pair.causes.get(0)).isInstanceOf(OutOfMemoryError.class);
    assertThat(two.client().isDisposed()).isTrue();
    assertThat(reader.count).hasValue(0);
  }

  @Test
  void send_toOneSlowReader_leavesAnotherConnectionAlone() {
    TcpPair.Two slow = pair.connect();
    TcpPair.Two quick = pair.connect();
    FrameReader reader = FrameReader.unbounded(quick.server());
    for (int i = 0; i < 200; i++) {
      slow.client().sendFrame(1, pair.marked(100_000, 1));
    }
    quick.client().sendFrame(1, pair.marked(100_000, 2));

    Eventually.holds("the quick one got its frame", () -> reader.count.get() == 1);
    assertThat(gauges(slow.client()).queuedBytes()).isPositive();
  }

  /// Sends to a peer that does not read until the sockets take no more and half of the queue is full.
  private void fillUntilStuck(DuplexConnection connection) {
    long before;
    do { // the loop must have had its chance to write: only then does a full queue mean a full socket
      while (gauges(connection).queuedBytes() < 512 << 10) {
        connection.sendFrame(1, pair.marked(65_536, 1));
      }
      before = gauges(connection).writtenBytes();
      LockSupport.parkNanos(20_000_000);
    } while (before == 0 || gauges(connection).writtenBytes() != before
        || gauges(connection).queuedBytes() < 512 << 10);
  }

  private static byte[] bytes(int size, int seed) {
    byte[] bytes = new byte[size];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  private static int intAt(byte[] frame, int index) {
    return ByteBuffer.wrap(frame).getInt(index);
  }
}
