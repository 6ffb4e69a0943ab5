package io.penstock.tier.spi;

import io.penstock.block.BlockScope;
import io.penstock.block.Owned;
import io.penstock.budget.Permits;
import io.penstock.operator.QueuedGrant;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import reactor.core.publisher.Mono;

/// A claim that waits in a queue with callbacks, as a `Mono`.
public final class QueuedClaim {
  private QueuedClaim() {}

  /// Claims all or nothing, in turn; a cancel leaves the queue.
  ///
  /// @param queue of an arena or of a device's slots; calls one of its arguments
  /// @param scope owns the claimed handles from the moment of the grant
  public static <T extends Owned> Mono<List<T>> of(
      BiFunction<Consumer<List<T>>, Consumer<Throwable>, Permits.Ticket> queue, BlockScope scope) {
    return QueuedGrant.of(grant -> queue.apply(claimed -> grant.granted(() -> {
      claimed.forEach(scope::adopt);
      return claimed;
    }, () -> claimed.forEach(Owned::close)), grant::refused)::cancel);
  }
}
