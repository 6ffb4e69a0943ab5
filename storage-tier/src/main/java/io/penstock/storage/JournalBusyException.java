package io.penstock.storage;

import io.penstock.tier.spi.StoreBusyException;
import reactor.core.publisher.Mono;

/// As much work waits for the disk as may wait. Transient: some of it ends.
public final class JournalBusyException extends StoreBusyException {
  private final int most;

  JournalBusyException(String line, int most, Mono<Void> room) {
    super(line + " waiting must be <= " + most + " (was " + most + ", and one more came)", room);
    this.most = most;
  }

  /// Most that may wait.
  public int most() {
    return most;
  }
}
