package io.penstock.storage;

import io.penstock.tier.spi.StoreBusyException;
import reactor.core.publisher.Mono;

/// The bound of work that waits for the disk is reached. Transient.
public final class JournalBusyException extends StoreBusyException {
  private final int most;

  JournalBusyException(String line, int most, Mono<Void> room) {
    super(line + " waiting must be <= " + most + " (was " + most + ", and one more came)", room);
    this.most = most;
  }

  /// The bound.
  public int most() {
    return most;
  }
}
