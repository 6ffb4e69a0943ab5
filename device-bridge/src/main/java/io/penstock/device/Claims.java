package io.penstock.device;

import io.penstock.block.BlockScope;
import io.penstock.block.Owned;
import io.penstock.block.Permits;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import reactor.core.publisher.Mono;

/// A wait for memory, in a line that calls back, as a `Mono`.
final class Claims {
  private Claims() {}

  /// A line for memory: an arena's or that of a device's slots.
  @FunctionalInterface
  interface Line<T> {
    Permits.Ticket join(Consumer<List<T>> granted, Consumer<? super Throwable> failed);
  }

  /// All or nothing, when the turn comes; cancelling leaves the line.
  ///
  /// @param scope owns what was claimed from the moment it is granted
  static <T extends Owned> Mono<List<T>> of(Line<T> line, BlockScope scope) {
    return Mono.create(sink -> {
      AtomicBoolean settled = new AtomicBoolean();
      Permits.Ticket ticket = line.join(claimed -> {
        if (settled.compareAndSet(false, true)) {
          claimed.forEach(scope::adopt);
          sink.success(claimed);
        } else { // cancelled while the grant was on its way
          claimed.forEach(Owned::close);
        }
      }, error -> {
        if (settled.compareAndSet(false, true)) {
          sink.error(error);
        }
      });
      sink.onCancel(() -> {
        if (settled.compareAndSet(false, true)) {
          ticket.cancel();
        }
      });
    });
  }
}
