package io.penstock.stage;

import io.penstock.TransientKvException;

/// A destination of a [FanOut] lay too far behind and was dropped; the others went on.
public final class LaggedException extends TransientKvException {
  private final int destination;
  private final int waitingElements;
  private final long waitingBytes;

  public LaggedException(int destination, int waitingElements, long waitingBytes, FanOutOptions limits) {
    super("destination %d of a fan-out: lag must be < %d elements and < %d bytes (was %d, %d)".formatted(
        destination, limits.lagElements(), limits.lagBytes(), waitingElements, waitingBytes));
    this.destination = destination;
    this.waitingElements = waitingElements;
    this.waitingBytes = waitingBytes;
  }

  /// Index of the destination.
  public int destination() {
    return destination;
  }

  /// Elements that waited for it; they were freed.
  public int waitingElements() {
    return waitingElements;
  }

  /// Bytes that waited for it.
  public long waitingBytes() {
    return waitingBytes;
  }
}
