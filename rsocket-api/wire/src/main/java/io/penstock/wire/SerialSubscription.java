package io.penstock.wire;

import io.penstock.operator.Demand;
import io.penstock.operator.Serial;
import org.reactivestreams.Subscription;

/// The side of a stream that its reader sees. Demand is counted, and all that happens to the stream is a step of
/// [#serial]: whatever is touched by such steps only needs no other care.
abstract class SerialSubscription implements Subscription {
  final Serial serial = new Serial(this::fail);
  /// What was asked for and was not sent; touched by steps only.
  long requested;
  volatile boolean done;

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

  /// What a request for `n`, none or fewer, ends the stream with. Such a number is the peer's, or a link's that flipped
  /// its bits, unless the reader is one of this process.
  RuntimeException misrequest(long n) {
    return WireFormatException.request("request", "> 0, Reactive Streams rule 3.9", n);
  }

  /// Does what demand and what has come allow. A step.
  abstract void proceed();

  /// Gives back what the stream has: its reader has gone. A step.
  abstract void letGo();

  /// Ends the stream, unless it has. A step, or the end of one that threw.
  abstract void fail(Throwable error);
}
