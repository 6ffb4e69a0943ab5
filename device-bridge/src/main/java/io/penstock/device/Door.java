package io.penstock.device;

import io.penstock.block.Owned;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/// Counts the work that is going on, lets no more in once it was shut, and tells when the last has left.
final class Door {
  private final Sinks.Empty<Void> left = Sinks.empty();
  /// Guarded by `this`.
  private int inside;
  private boolean shut;

  /// One hold of work that goes on.
  final class Pass extends Owned {
    private Pass() {}

    /// A second hold, for a part that may outlive the first.
    Pass share() {
      synchronized (Door.this) {
        inside++;
      }
      return new Pass();
    }

    @Override
    protected void free() {
      synchronized (Door.this) {
        inside--;
        if (!shut || inside > 0) {
          return;
        }
      }
      left.tryEmitEmpty();
    }
  }

  /// Null once the door was shut.
  synchronized @Nullable Pass enter() {
    if (shut) {
      return null;
    }
    inside++;
    return new Pass();
  }

  /// Lets nobody in any more; completes when all have left.
  Mono<Void> shut() {
    return Mono.defer(() -> {
      synchronized (this) {
        shut = true;
        if (inside > 0) {
          return left.asMono();
        }
      }
      return Mono.empty();
    });
  }
}
