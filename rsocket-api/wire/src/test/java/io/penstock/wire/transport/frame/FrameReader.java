package io.penstock.wire.transport.frame;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.rsocket.DuplexConnection;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;

/// A subscriber of a connection that copies what it gets.
public final class FrameReader extends BaseSubscriber<ByteBuf> {
  public final List<byte[]> frames = Collections.synchronizedList(new ArrayList<>());
  public final AtomicInteger count = new AtomicInteger();
  public volatile Throwable error;
  public volatile boolean completed;
  private final long first;

  public FrameReader(long first) {
    this.first = first;
  }

  public static FrameReader unbounded(DuplexConnection connection) {
    FrameReader reader = new FrameReader(Long.MAX_VALUE);
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

  public boolean ended() {
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
