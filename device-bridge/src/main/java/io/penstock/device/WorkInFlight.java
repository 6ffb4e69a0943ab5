package io.penstock.device;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.Owned;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/// Counts work in flight. Draining refuses new work and waits for the end of the work in flight.
final class WorkInFlight {
  private final Sinks.Empty<Void> drained = Sinks.empty();
  @GuardedBy("this") private int holds;
  @GuardedBy("this") private boolean draining;

  /// Work in flight, until it is closed.
  final class Hold extends Owned {
    private Hold() {}

    /// A second hold, for a part that may outlive the first.
    Hold share() {
      synchronized (WorkInFlight.this) {
        holds++;
      }
      return new Hold();
    }

    @Override
    protected void free() {
      synchronized (WorkInFlight.this) {
        holds--;
        if (!draining || holds > 0) {
          return;
        }
      }
      drained.tryEmitEmpty();
    }
  }

  /// Returns null once [#drain()] has begun.
  synchronized @Nullable Hold begin() {
    if (draining) {
      return null;
    }
    holds++;
    return new Hold();
  }

  /// Refuses new work; completes when all work has ended. Lazy and idempotent.
  Mono<Void> drain() {
    return Mono.defer(() -> {
      synchronized (this) {
        draining = true;
        if (holds > 0) {
          return drained.asMono();
        }
      }
      return Mono.empty();
    });
  }
}
