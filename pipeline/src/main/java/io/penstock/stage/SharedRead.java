package io.penstock.stage;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.BudgetExhaustedException;
import io.penstock.block.Permits;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/// One read of a [Coalesce] and those who wait for it.
///
/// Reactor's sharing operators do not fit: they either cannot be cancelled, or answer one who subscribes late with an
/// empty stream, which would be a miss that is none.
final class SharedRead {
  private final Coalesce coalesce;
  private final BlockKey key;
  private final Permits permits;
  /// Owns what is read until every waiter has its share.
  private final BlockScope scope = new BlockScope();
  private final Reader reading = new Reader();
  private final AtomicBoolean permitHeld = new AtomicBoolean();

  /// All below are guarded by `coalesce`.
  private final Set<Waiter> waiters = new LinkedHashSet<>();
  private boolean over;
  private Permits.@Nullable Ticket ticket;

  SharedRead(Coalesce coalesce, BlockKey key, Permits permits) {
    this.coalesce = coalesce;
    this.key = key;
    this.permits = permits;
  }

  /// Begins the read when its turn comes. Not under the lock of `coalesce`.
  void start(BiFunction<BlockKey, BlockScope, Mono<Block>> reader) {
    Permits.Ticket place;
    try {
      place = permits.acquire(1, () -> granted(reader));
    } catch (BudgetExhaustedException e) {
      end(waiter -> waiter.sink.error(e));
      return;
    }
    synchronized (coalesce) {
      ticket = place;
      if (!over) {
        return;
      }
    }
    place.cancel();
  }

  private void granted(BiFunction<BlockKey, BlockScope, Mono<Block>> reader) {
    boolean wanted;
    synchronized (coalesce) {
      wanted = !over;
      permitHeld.set(wanted);
    }
    if (wanted) { // the last waiter may leave right now, and has given the permit back then
      Mono.defer(() -> reader.apply(key, scope)).subscribe(reading);
    } else {
      permits.release(1);
    }
  }

  /// Adds `waiter`. Guarded by `coalesce`.
  void join(Waiter waiter) {
    waiters.add(waiter);
  }

  private void leave(Waiter waiter) {
    Permits.Ticket place;
    synchronized (coalesce) {
      if (!waiters.remove(waiter) || !waiters.isEmpty()) {
        return;
      }
      over = true;
      coalesce.remove(key, this);
      place = ticket;
    }
    if (place != null) {
      place.cancel();
    }
    reading.cancel();
    scope.close();
    releasePermit();
  }

  private void end(Consumer<Waiter> tell) {
    List<Waiter> told;
    synchronized (coalesce) {
      over = true;
      told = List.copyOf(waiters);
      waiters.clear();
      coalesce.remove(key, this);
    }
    try {
      told.forEach(tell);
    } finally {
      scope.close();
    }
  }

  private void releasePermit() {
    if (permitHeld.getAndSet(false)) {
      permits.release(1);
    }
  }

  /// The subscriber of the read.
  private final class Reader extends BaseSubscriber<Block> {
    @Override
    protected void hookOnNext(Block block) {
      try (block) {
        end(waiter -> waiter.sink.success(waiter.scope.adopt(block.share())));
      }
    }

    @Override
    protected void hookOnError(Throwable error) {
      end(waiter -> waiter.sink.error(error));
      releasePermit();
    }

    @Override
    protected void hookOnComplete() {
      end(waiter -> waiter.sink.success());
      releasePermit();
    }
  }

  /// One who wants the block.
  static final class Waiter {
    private final Coalesce coalesce;
    private final MonoSink<Block> sink;
    private final BlockScope scope;
    /// Guarded by `coalesce`, as is `left`.
    private @Nullable SharedRead read;
    private boolean left;

    Waiter(Coalesce coalesce, MonoSink<Block> sink, BlockScope scope) {
      this.coalesce = coalesce;
      this.sink = sink;
      this.scope = scope;
    }

    /// True for the first call, unless the waiter left before. Guarded by `coalesce`.
    boolean canJoin() {
      return !left && read == null;
    }

    /// Guarded by `coalesce`.
    void join(SharedRead joined) {
      read = joined;
      joined.join(this);
    }

    void leave() {
      SharedRead joined;
      synchronized (coalesce) {
        left = true;
        joined = read;
      }
      if (joined != null) {
        joined.leave(this);
      }
    }
  }
}
