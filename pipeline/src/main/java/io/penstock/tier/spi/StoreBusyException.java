package io.penstock.tier.spi;

import io.penstock.TransientKvException;
import reactor.core.publisher.Mono;

/// A store's line is full: nothing was begun, and nothing is wrong with the blocks.
public class StoreBusyException extends TransientKvException {
  private final transient Mono<Void> room;

  /// @param room see [#room()]
  public StoreBusyException(String message, Mono<Void> room) {
    super(message);
    this.room = room;
  }

  /// Completes when it is worth while to ask again, on a thread of the store, under no lock of it. Whoever asks may be
  /// refused again: others ask, too.
  public Mono<Void> room() {
    return room;
  }
}
