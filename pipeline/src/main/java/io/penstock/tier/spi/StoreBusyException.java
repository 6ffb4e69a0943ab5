package io.penstock.tier.spi;

import io.penstock.TransientKvException;
import reactor.core.publisher.Mono;

/// The queue of a store is full. The store did nothing, and the blocks are intact.
public class StoreBusyException extends TransientKvException {
  private final transient Mono<Void> room;

  /// @param room see [#room()]
  public StoreBusyException(String message, Mono<Void> room) {
    super(message);
    this.room = room;
  }

  /// Completes when the caller may ask again: on a thread of the store, under no lock of it. Other callers ask, too, so
  /// the store may refuse again.
  public Mono<Void> room() {
    return room;
  }
}
