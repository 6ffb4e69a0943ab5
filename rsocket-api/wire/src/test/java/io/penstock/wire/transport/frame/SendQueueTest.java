package io.penstock.wire.transport.frame;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class SendQueueTest {
  private final List<ByteBuf> all = new ArrayList<>();
  private final SendQueue queue = new SendQueue(1_000, 10);

  @Test
  void poll_streamZero_overtakesDataAndKeepsItsOwnOrder() {
    queue.offer(1, frame(10, 1));
    queue.offer(0, frame(10, 2));
    queue.offer(3, frame(10, 3));
    queue.offer(0, frame(10, 4));

    assertThat(drain()).containsExactly(2, 4, 1, 3);
    assertThat(queue.bytes()).isZero();
    assertThat(queue.frames()).isZero();
    assertThat(queue.peakBytes()).isEqualTo(4 * 13);
  }

  @Test
  void offer_firstOfARound_wakes() {
    assertThat(queue.offer(1, frame(1, 1))).isEqualTo(SendQueue.Offer.WAKE);
    assertThat(queue.offer(1, frame(1, 2))).isEqualTo(SendQueue.Offer.QUEUED);
    drain();
    assertThat(queue.offer(1, frame(1, 3))).isEqualTo(SendQueue.Offer.WAKE);
    queue.close();
    assertAllReleased();
  }

  @Test
  void offer_oneByteTooMany_isReleasedAndNamed() {
    queue.offer(1, frame(996, 1)); // 999 with its header

    assertThat(queue.offer(1, frame(1, 2))).isEqualTo(SendQueue.Offer.OVERRUN);
    assertThat(queue.overrunBy(1)).hasMessageContaining("<= 1000 bytes and 10 frames (was 1003 bytes, 2 frames)");
    assertThat(all.get(1).refCnt()).isZero();
    assertThat(queue.bytes()).isEqualTo(999);
    queue.close();
    assertAllReleased();
  }

  @Test
  void offer_oneFrameTooMany_isReleased() {
    for (int i = 0; i < 10; i++) {
      queue.offer(1, frame(1, i));
    }

    assertThat(queue.offer(0, frame(1, 11))).isEqualTo(SendQueue.Offer.OVERRUN);
    queue.close();
    assertAllReleased();
  }

  @Test
  void end_withWaitingFrames_handsThemOutThenTheLastThenNone() {
    queue.offer(1, frame(1, 1));
    queue.end(frame(1, 9));

    assertThat(queue.offer(1, frame(1, 2))).isEqualTo(SendQueue.Offer.CLOSED);
    assertThat(queue.end(frame(1, 3))).isEqualTo(SendQueue.Offer.CLOSED);
    assertThat(drain()).containsExactly(1, 9);
    assertAllReleased();
  }

  @Test
  void dropWaiting_afterEnd_keepsTheLast() {
    queue.offer(1, frame(1, 1));
    queue.offer(0, frame(1, 2));
    queue.end(frame(1, 9));
    queue.dropWaiting();

    assertThat(queue.frames()).isEqualTo(1);
    assertThat(drain()).containsExactly(9);
    assertAllReleased();
  }

  @Test
  void offer_fromManyThreadsWhileClosing_leaksNothing() throws InterruptedException {
    for (int round = 0; round < 200; round++) {
      SendQueue contested = new SendQueue(1 << 20, 1 << 16);
      List<ByteBuf> offered = new ArrayList<>();
      for (int i = 0; i < 64; i++) {
        offered.add(Unpooled.buffer(8).writeLong(i));
      }
      AtomicInteger next = new AtomicInteger();
      try (ExecutorService threads = Executors.newFixedThreadPool(3)) {
        for (int t = 0; t < 2; t++) {
          threads.execute(() -> {
            for (int i = next.getAndIncrement(); i < 64; i = next.getAndIncrement()) {
              contested.offer(i & 1, offered.get(i));
            }
          });
        }
        threads.execute(() -> {
          for (ByteBuf frame = contested.poll(); frame != null; frame = contested.poll()) {
            frame.release();
          }
          contested.close();
        });
        threads.shutdown();
        assertThat(threads.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
      }
      assertThat(offered).allMatch(frame -> frame.refCnt() == 0);
    }
  }

  private ByteBuf frame(int size, int mark) {
    ByteBuf frame = Unpooled.buffer(size).writeByte(mark).writeZero(size - 1);
    all.add(frame);
    return frame;
  }

  private List<Integer> drain() {
    List<Integer> marks = new ArrayList<>();
    for (ByteBuf frame = queue.poll(); frame != null; frame = queue.poll()) {
      marks.add((int) frame.getByte(0));
      frame.release();
    }
    return marks;
  }

  private void assertAllReleased() {
    assertThat(all).allMatch(frame -> frame.refCnt() == 0);
  }
}
