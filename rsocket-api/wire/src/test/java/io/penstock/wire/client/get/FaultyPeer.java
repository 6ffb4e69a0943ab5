package io.penstock.wire.client.get;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.penstock.wire.slice.Mutation;
import io.rsocket.Payload;
import io.rsocket.util.ByteBufPayload;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;

/// A peer whose stream has a fault, and that gives payloads as it is asked for them, or pushes them all.
public final class FaultyPeer implements Subscription {
  private final CoreSubscriber<Payload> to;
  private final List<byte[]> payloads;
  /// Buffers that were fed, which must be released in the end.
  private final List<ByteBuf> buffers = new ArrayList<>();
  private long credit;
  private int next;
  private boolean sending;
  private boolean over;

  FaultyPeer(CoreSubscriber<Payload> to, List<byte[]> payloads, boolean pushing) {
    this.to = to;
    this.payloads = payloads;
    this.credit = pushing ? Integer.MAX_VALUE : 0;
  }

  @Override
  public void request(long n) {
    credit += n;
    send();
  }

  void send() {
    if (sending) {
      return;
    }
    sending = true;
    while (!over && credit > 0 && next < payloads.size()) {
      credit--;
      to.onNext(fed(payloads.get(next++)));
    }
    if (!over && next == payloads.size()) {
      over = true;
      to.onComplete();
    }
    sending = false;
  }

  @Override
  public void cancel() {
    over = true;
  }

  private Payload fed(byte[] bytes) {
    ByteBuf data = Unpooled.buffer(bytes.length + 1).writeBytes(bytes); // never the empty buffer, which all share
    buffers.add(data);
    return ByteBufPayload.create(data);
  }

  void requireReleased() {
    for (int i = 0; i < buffers.size(); i++) {
      assertEquals(0, buffers.get(i).refCnt(), "holds on payload " + i);
    }
  }

  /// The faults of a stream: bytes of one or two payloads, or their order. Answers whether a header CRC was made to
  /// hold.
  public static boolean broken(List<byte[]> payloads, int head, SplittableRandom random) {
    int at = random.nextInt(payloads.size());
    switch (random.nextInt(8)) {
      case 0 -> payloads.remove(at);
      case 1 -> payloads.add(random.nextInt(payloads.size() + 1), payloads.get(at));
      case 2 -> payloads.add(random.nextInt(payloads.size()), payloads.remove(at));
      case 3 -> payloads.subList(at, payloads.size()).clear();
      default -> {
        payloads.set(at, Mutation.of(payloads.get(at), random));
        if (at >= head && random.nextInt(3) != 0) {
          Mutation.withHeaderChecksum(payloads.get(at));
          return true;
        }
      }
    }
    return false;
  }
}
