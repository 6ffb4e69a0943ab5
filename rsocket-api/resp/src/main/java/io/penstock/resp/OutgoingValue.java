package io.penstock.resp;

import io.netty.channel.Channel;
import io.netty.util.concurrent.Future;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockScope;
import io.penstock.flow.LeasedValue;
import io.penstock.flow.ValuePart;
import io.penstock.node.door.DoorUses.Kind;
import io.penstock.node.door.PartBuf;
import io.penstock.wire.transport.SourceAddress;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.BaseSubscriber;

/// One value on its way to a socket. Its length goes out with its first part, which was verified by then with those
/// read together with it; a value that is damaged before is a miss, and one that is damaged later ends the connection.
/// It is done when the socket takes more: a client that reads slowly holds the memory of few parts. On the event loop
/// of the channel.
final class OutgoingValue {
  private static final Logger LOG = LoggerFactory.getLogger(OutgoingValue.class);

  private final Session session;
  private final String name;
  private final Runnable done;
  private final BlockScope scope = new BlockScope();
  private final Parts parts = new Parts();
  private long length;
  private boolean hasBegun;
  private boolean isHeaderOut;
  private boolean isWritten;
  private boolean isOver;
  private boolean waits;
  private @Nullable Future<?> stall;

  /// @param done run once when the reply is written, or the connection ends
  OutgoingValue(Session session, String name, Runnable done) {
    this.session = session;
    this.name = name;
    this.done = done;
  }

  void begin() {
    session.values().get(name, scope).subscribe(found -> session.onLoop(() -> found(found)),
        failure -> session.onLoop(() -> failed(failure)), () -> session.onLoop(this::missing));
    if (!hasBegun && !isOver) {
      watch();
    }
  }

  private void found(LeasedValue value) {
    if (isOver) {
      value.close();
      scope.close();
      return;
    }
    length = value.length();
    hasBegun = true;
    ValuePart whole = value.whole();
    if (whole == null) {
      value.parts().subscribe(parts);
    } else {
      headerOnce();
      session.use().add(Kind.BYTES_OUT, whole.bytes());
      session.replies().body(new PartBuf(session.channel().alloc(), whole));
      complete();
    }
  }

  private void missing() {
    if (!hasBegun && !isOver) {
      session.use().count(Kind.MISS);
      session.replies().nil();
      over();
    }
  }

  private void next(ValuePart part) {
    if (isOver) {
      part.close();
      return;
    }
    headerOnce();
    session.use().add(Kind.BYTES_OUT, part.bytes());
    session.replies().body(new PartBuf(session.channel().alloc(), part.share()));
    part.close();
    if (session.channel().isWritable()) {
      parts.request(1);
    } else {
      waits = true;
      session.replies().flush();
      if (waits) { // the flush may have made the channel writable again
        watch();
      }
    }
  }

  private void headerOnce() {
    if (!isHeaderOut) {
      isHeaderOut = true;
      session.replies().bulkHeader(length);
    }
  }

  /// The socket takes more.
  void writable() {
    if (waits && session.channel().isWritable()) {
      waits = false;
      unwatch();
      if (isWritten) {
        over();
      } else {
        parts.request(1);
      }
    }
  }

  private void complete() {
    if (!isOver) {
      headerOnce();
      session.replies().bulkEnd();
      session.use().count(Kind.HIT);
      isWritten = true;
      if (session.channel().isWritable()) {
        over();
      } else {
        waits = true;
        session.replies().flush();
        if (waits) { // as in next
          watch();
        }
      }
    }
  }

  private void failed(Throwable failure) {
    if (isOver) {
      return;
    }
    boolean isDamage = failure instanceof BlockCorruptException;
    session.use().count(isDamage ? Kind.DAMAGE : Kind.MISS);
    if (isHeaderOut) {
      LOG.warn("a value that was being sent is lost, and the connection from {} ended",
          SourceAddress.words(session.channel().remoteAddress()), failure);
      session.close();
    } else {
      if (!isDamage) {
        LOG.debug("a value that was asked for is not there", failure);
      }
      session.replies().nil();
    }
    over();
  }

  /// Looks whether the tier, or the socket, moves at all.
  private void watch() {
    if (stall == null) {
      Channel channel = session.channel();
      long before = waits ? channel.bytesBeforeWritable() : -1;
      stall = channel.eventLoop().schedule(() -> {
        stall = null;
        if (isOver) {
          return;
        } else if (!waits && !hasBegun) {
          missing();
        } else if (waits && channel.bytesBeforeWritable() == before) {
          session.end("the client took no byte of a value for too long");
          over();
        } else {
          watch();
        }
      }, session.house().limits().stallNanos(), TimeUnit.NANOSECONDS);
    }
  }

  private void unwatch() {
    Future<?> timer = stall;
    if (timer != null) {
      stall = null;
      timer.cancel(false);
    }
  }

  /// The connection is gone.
  void cancel() {
    if (!isOver) {
      over();
    }
  }

  private void over() {
    isOver = true;
    unwatch();
    parts.dispose();
    scope.close();
    done.run();
  }

  private final class Parts extends BaseSubscriber<ValuePart> {
    @Override
    protected void hookOnSubscribe(Subscription subscription) {
      request(1);
    }

    @Override
    protected void hookOnNext(ValuePart part) {
      session.onLoop(() -> next(part));
    }

    @Override
    protected void hookOnComplete() {
      session.onLoop(OutgoingValue.this::complete);
    }

    @Override
    protected void hookOnError(Throwable failure) {
      session.onLoop(() -> failed(failure));
    }
  }
}
