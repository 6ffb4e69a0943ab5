package io.penstock.tier;

import io.penstock.block.BlockScope;
import io.penstock.block.BytePermit;
import io.penstock.block.Permits;
import java.util.concurrent.atomic.AtomicBoolean;
import reactor.core.publisher.Mono;

/// The limit on bytes in flight of one party: `inUse <= capacity`, always.
///
/// One permit is taken where bytes enter and travels with them; no stage downstream takes a second one.
public final class ByteBudget {
  private final Permits permits;

  /// @param name named in errors and meters
  /// @param capacityBytes most bytes in flight
  /// @param maxWaiters longest queue
  public ByteBudget(String name, long capacityBytes, int maxWaiters) {
    this.permits = new Permits(name, capacityBytes, maxWaiters);
  }

  /// A permit for `bytes`, when its turn comes; cancelling leaves the queue.
  ///
  /// @param scope owns the permit from the moment it is granted
  public Mono<BytePermit> acquire(long bytes, BlockScope scope) {
    return Mono.create(sink -> {
      AtomicBoolean ended = new AtomicBoolean();
      Permits.Ticket ticket = permits.acquire(bytes, () -> {
        if (ended.compareAndSet(false, true)) {
          sink.success(scope.adopt(new BytePermit(permits, bytes)));
        } else { // cancelled while the grant was on its way
          permits.release(bytes);
        }
      });
      sink.onCancel(() -> {
        if (ended.compareAndSet(false, true)) {
          ticket.cancel();
        }
      });
    });
  }

  /// The budget itself, for code that is called back instead of subscribing.
  public Permits permits() {
    return permits;
  }

  /// Bytes in flight now.
  public long inUseBytes() {
    return permits.inUse();
  }

  /// Most bytes ever in flight.
  public long peakBytes() {
    return permits.peak();
  }

  /// Most bytes that may be in flight.
  public long capacityBytes() {
    return permits.capacity();
  }
}
