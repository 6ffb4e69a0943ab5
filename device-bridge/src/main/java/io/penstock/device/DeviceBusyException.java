package io.penstock.device;

import io.penstock.tier.spi.StoreBusyException;
import reactor.core.publisher.Mono;

/// The queue of a device is full: nothing of this work was done, and a retry after some of the queue was done can
/// succeed.
public final class DeviceBusyException extends StoreBusyException {
  private final String device;
  private final int maxQueued;

  /// @param room completes when some of the queue was done
  public DeviceBusyException(String device, int maxQueued, Mono<Void> room) {
    super("device " + device + ": work in its queue must be <= " + maxQueued + " (was one more)", room);
    this.device = device;
    this.maxQueued = maxQueued;
  }

  public String device() {
    return device;
  }

  public int maxQueued() {
    return maxQueued;
  }
}
