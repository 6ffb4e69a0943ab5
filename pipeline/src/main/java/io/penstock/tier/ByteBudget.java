package io.penstock.tier;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.BlockScope;
import io.penstock.block.Owned;
import io.penstock.budget.Permits;
import io.penstock.check.Checks;
import io.penstock.operator.QueuedGrant;
import reactor.core.publisher.Mono;

/// The limit on bytes in flight of one party: `inUse <= capacity`, always.
///
/// A permit is taken where bytes enter and travels with them. No stage downstream takes a second permit.
public final class ByteBudget {
  private final Permits permits;

  /// @param name named in errors and meters
  /// @param capacityBytes most bytes in flight
  /// @param maxWaiters longest queue
  public ByteBudget(String name, long capacityBytes, int maxWaiters) {
    this.permits = new Permits(name, capacityBytes, maxWaiters);
  }

  /// A permit for `bytes`, granted in the order of asking. A cancel leaves the queue.
  ///
  /// @param scope owns the permit from the moment it is granted
  public Mono<Permit> acquire(long bytes, BlockScope scope) {
    return QueuedGrant.of(grant -> permits.acquire(bytes,
        () -> grant.granted(() -> scope.adopt(new Permit(permits, bytes)), () -> permits.release(bytes)),
        grant::refused)::cancel);
  }

  /// The budget itself, for code that is called back instead of subscribing.
  public Permits permits() {
    return permits;
  }

  /// Bytes in flight now.
  public long inUseBytes() {
    return permits.inUse();
  }

  /// Highest number of bytes in flight.
  public long peakBytes() {
    return permits.peak();
  }

  /// Maximum number of bytes in flight.
  public long capacityBytes() {
    return permits.capacity();
  }

  /// *budget client: 524288 of 8388608 bytes in flight, 0 calls wait*.
  @Override
  public String toString() {
    return "budget %s: %d of %d bytes in flight, %d calls wait".formatted(permits.name(), inUseBytes(), capacityBytes(),
        permits.waiting());
  }

  /// One owner's right to have bytes in flight, refunded as the bytes land.
  ///
  /// Closing refunds the rest. Safe from any thread.
  public static final class Permit extends Owned {
    private final Permits permits;
    @GuardedBy("this") private long left;

    /// Takes over `bytes` that were just acquired from `permits`.
    public Permit(Permits permits, long bytes) {
      this.permits = permits;
      this.left = Checks.positive("bytes", bytes);
    }

    /// Bytes not refunded yet.
    public synchronized long left() {
      return left;
    }

    /// Refunds `bytes` of this permit. Does nothing after [#close()], which refunded all.
    public void refund(long bytes) {
      Checks.positive("bytes", bytes);
      synchronized (this) {
        if (left == 0 && isClosed()) {
          return;
        }
        if (bytes > left) {
          throw new IllegalStateException(permits.name() + ": refund must be <= " + left + " left (was " + bytes + ")");
        }
        left -= bytes;
      }
      permits.release(bytes);
    }

    @Override
    protected void free() {
      long rest;
      synchronized (this) {
        rest = left;
        left = 0;
      }
      if (rest > 0) {
        permits.release(rest);
      }
    }
  }
}
