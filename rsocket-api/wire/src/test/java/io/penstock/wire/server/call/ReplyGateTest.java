package io.penstock.wire.server.call;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBufAllocator;
import io.rsocket.Payload;
import java.util.ArrayDeque;
import java.util.Queue;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.test.publisher.TestPublisher;

/// Endless credit does not move the log of a tier into the send queue.
final class ReplyGateTest {
  private final Queue<Payload> unsent = new ArrayDeque<>();
  private boolean completed;

  private final BaseSubscriber<Payload> greedy = new BaseSubscriber<>() {
    @Override
    protected void hookOnNext(Payload payload) {
      unsent.add(payload);
    }

    @Override
    protected void hookOnComplete() {
      completed = true;
    }
  };

  private static Flux<Payload> gate(Flux<Integer> source) {
    return ReplyGate.of(source, number -> ByteBufAllocator.DEFAULT.buffer(4).writeInt(number),
        ByteBufAllocator.DEFAULT);
  }

  @Test
  void replies_toEndlessCredit_waitAtTheSource() {
    gate(Flux.range(0, 10_000)).subscribe(greedy);
    assertEquals(ReplyGate.UNSENT, unsent.size());

    int received = 0;
    while (!unsent.isEmpty()) {
      Payload next = unsent.remove();
      assertEquals(received++, next.sliceData().getInt(0));
      next.release();
      assertTrue(unsent.size() <= ReplyGate.UNSENT, "unsent " + unsent.size());
    }

    assertEquals(10_000, received);
    assertTrue(completed);
  }

  @Test
  void replies_beyondTheCredit_areNotAskedFor() {
    TestPublisher<Integer> source = TestPublisher.create();
    gate(source.flux()).take(3, true).subscribe(greedy);
    source.assertMinRequested(3);
    source.assertMaxRequested(3);
    greedy.cancel();
    source.assertCancelled();
  }
}
