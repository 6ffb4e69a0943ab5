package io.penstock.wire.credit;

import io.penstock.operator.Demand;
import io.penstock.operator.Serial;
import io.penstock.wire.protocol.WireFormatException;
import org.reactivestreams.Subscription;

/// The reader's side of a stream. Demand is counted, and all events of the stream are steps of [#serial]: state that
/// only such steps touch needs no other care.
@SuppressWarnings("this-escape") // kept until the first step, which no constructor runs
public abstract class SerialSubscription implements Subscription {
  protected final Serial serial = new Serial(this::fail);
  /// Number of elements that were requested and not sent; touched by steps only.
  protected long requested;
  protected volatile boolean done;

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

  /// Error of a request for `n` elements, which is not positive. Such a number comes from the peer, or from a link that
  /// flipped its bits, unless the reader is one of this process.
  protected RuntimeException misrequest(long n) {
    return WireFormatException.request("request", "> 0, Reactive Streams rule 3.9", n);
  }

  /// Continues as far as demand and arrived slices allow. A step.
  protected abstract void proceed();

  /// Gives back the resources of the stream: its reader has gone. A step.
  protected abstract void letGo();

  /// Ends the stream, unless it has. A step, or the end of one that threw.
  protected abstract void fail(Throwable error);
}
