package io.penstock.wire.client.get;

import java.util.concurrent.atomic.AtomicLong;

/// Which gets of a connection are worth a short request: after one that the node refused, the next ones ask for a
/// stream at once. These are twice as many after each refusal in a row, up to [#MOST], so a node whose blocks lie on a
/// disk, or whose tier does not answer so, costs few requests more. Safe from any thread.
public final class ShortTurns {
  static final int MOST = 64;

  /// Streams after the next refusal in the upper half, streams that are left in the lower one.
  private final AtomicLong state = new AtomicLong(1L << Integer.SIZE);

  public ShortTurns() {}

  /// Whether the next get may be short; counts it.
  boolean isNext() {
    return (int) state.getAndUpdate(now -> (int) now > 0 ? now - 1 : now) == 0;
  }

  /// The node refused a short get.
  void refused() {
    state.updateAndGet(now -> {
      long streams = now >>> Integer.SIZE;
      return Math.min(2 * streams, MOST) << Integer.SIZE | streams;
    });
  }

  /// The node answered one.
  void answered() {
    state.updateAndGet(now -> 1L << Integer.SIZE | (now & 0xFFFF_FFFFL));
  }
}
