package io.penstock.wire.transfer;

import io.penstock.wire.transfer.TransferListener.Times;
import org.jspecify.annotations.Nullable;

/// Times of an item: submission, waits, and moves of its bytes. Without a listener it reads no clock. Touched by steps
/// of one peer.
final class ItemClock {
  private final boolean runs;
  private final long submitted;
  private long waitsSince;
  private long started;
  private long connect;
  private long verify;
  private boolean isWaiting;
  private boolean isStarted;
  private String transport = "";

  ItemClock(TransferListener listener) {
    this.runs = listener.hearsItems();
    this.submitted = now();
  }

  private long now() {
    return runs ? System.nanoTime() : 0;
  }

  /// Starts a wait for the connection, or for descriptors.
  void waits() {
    waitsSince = isWaiting ? waitsSince : now();
    isWaiting = true;
    isStarted = false;
  }

  /// Its operation begins.
  void starts(SegmentLink link) {
    started = now();
    connect += isWaiting ? started - waitsSince : 0;
    isWaiting = false;
    isStarted = true;
    transport = runs ? link.transport() : "";
  }

  void verified(long nanos) {
    verify = nanos;
  }

  /// @param failure null if the item completed
  TransferListener.@Nullable ItemReport report(Work work, @Nullable TransferFailure failure) {
    TransferBatch.Direction direction = work.direction();
    if (!runs || direction == null) {
      return null;
    }
    long end = now();
    long waited = connect + (isWaiting ? end - waitsSince : 0);
    long moved = isStarted ? end - started : 0;
    Times times = new Times(waited, end - submitted - waited - moved, moved, verify);
    return new TransferListener.ItemReport(work.peer.address(), transport, direction, work.bytes, work.attempt, times,
        failure);
  }
}
