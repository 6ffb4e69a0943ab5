package io.penstock.device;

import io.penstock.block.BlockScope;
import io.penstock.block.Owned;
import io.penstock.block.Permits;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import reactor.core.publisher.Mono;

/// A claim that waits in a queue with callbacks, as a `Mono`.
final class QueuedClaim {
  private QueuedClaim() {}

  /// A queue for memory: of an arena or of a device's slots.
  @FunctionalInterface
  interface Queue<T> {
    Permits.Ticket join(Consumer<List<T>> granted, Consumer<? super Throwable> failed);
  }

  /// Claims all or nothing, in turn; a cancel leaves the queue.
  ///
  /// @param scope owns the claimed handles from the moment of the grant
  static <T extends Owned> Mono<List<T>> of(Queue<T> queue, BlockScope scope) {
    return Mono.create(sink -> {
      AtomicBoolean ended = new AtomicBoolean();
      Permits.Ticket ticket = queue.join(claimed -> {
        if (ended.compareAndSet(false, true)) {
          claimed.forEach(scope::adopt);
          sink.success(claimed);
        } else { // cancelled while the grant was on its way
          claimed.forEach(Owned::close);
        }
      }, error -> {
        if (ended.compareAndSet(false, true)) {
          sink.error(error);
        }
      });
      sink.onCancel(() -> {
        if (ended.compareAndSet(false, true)) {
          ticket.cancel();
        }
      });
    });
  }
}
