package io.penstock.block;

import com.google.errorprone.annotations.concurrent.GuardedBy;

/// Bytes in flight that one owner answers for: taken once where the bytes enter, refunded as they land.
///
/// Closing refunds what is left. Safe from any thread.
public final class BytePermit extends Owned {
  private final Permits permits;
  @GuardedBy("this") private long left;

  /// Takes over `bytes` that were just acquired from `permits`.
  public BytePermit(Permits permits, long bytes) {
    this.permits = permits;
    this.left = Checks.positive("bytes", bytes);
  }

  /// Bytes not refunded yet.
  public synchronized long left() {
    return left;
  }

  /// Refunds `bytes` of this permit; after [#close()] it does nothing, for all was refunded.
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
