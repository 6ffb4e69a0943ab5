package io.penstock.wire.credit;

import io.penstock.operator.Demand;
import io.penstock.operator.Serial;
import io.penstock.wire.protocol.WireFormatException;
import org.reactivestreams.Subscription;

/// The side of a stream that its reader sees. Demand is counted, and all that happens to the stream is a step of
/// [#serial]: whatever is touched by such steps only needs no other care.
@SuppressWarnings("this-escape") // kept until the first step, which no constructor runs
public abstract class SerialSubscription implements Subscription {
  public final Serial serial = new Serial(this::fail);
  /// What was asked for and was not sent; touched by steps only.
  public long requested;
  public volatile boolean done;

  @Override
  public final void request(long n) {
    serial.run(() -> {
      if (n <= 0) { // or it would count as demand without end
        throw misrequest(n);
      }
      requested = Demand.plus(requested, n);
      proceed();
    });
  }

  @Override
  public final void cancel() {
    done = true;
    serial.run(this::letGo);
  }

  /// Whether the stream has ended, as its reader sees it.
  public final boolean isDone() {
    return done;
  }

  /// What a request for `n`, none or fewer, ends the stream with. Such a number is the peer's, or a link's that flipped
  /// its bits, unless the reader is one of this process.
  protected RuntimeException misrequest(long n) {
    return WireFormatException.request("request", "> 0, Reactive Streams rule 3.9", n);
  }

  /// Does what demand and what has come allow. A step.
  protected abstract void proceed();

  /// Gives back what the stream has: its reader has gone. A step.
  protected abstract void letGo();

  /// Ends the stream, unless it has. A step, or the end of one that threw.
  protected abstract void fail(Throwable error);
}
