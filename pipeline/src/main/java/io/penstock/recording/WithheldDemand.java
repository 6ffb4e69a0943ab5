package io.penstock.recording;

import java.util.function.LongConsumer;
import reactor.core.publisher.Operators;

/// Demand of a stream, which waits while the recording is full.
final class WithheldDemand {
  private final Turns turns;
  private final LongConsumer pass;
  private final RoomWait wait;
  private long withheld;

  /// @param pass passes demand on
  WithheldDemand(Turns turns, LongConsumer pass) {
    this.turns = turns;
    this.pass = pass;
    this.wait = new RoomWait(turns, () -> this.pass.accept(taken()));
  }

  /// Passes `n` on, now or when there is room.
  void request(long n) {
    if (n <= 0 || !turns.isFull()) { // a wrong number is an error, and no demand
      pass.accept(n);
      return;
    }
    long before;
    synchronized (this) {
      before = withheld;
      withheld = Operators.addCap(before, n);
    }
    if (before == 0) {
      wait.run();
    }
  }

  private synchronized long taken() {
    long taken = withheld;
    withheld = 0;
    return taken;
  }

  /// The reader has left.
  void cancel() {
    wait.cancel();
  }
}
