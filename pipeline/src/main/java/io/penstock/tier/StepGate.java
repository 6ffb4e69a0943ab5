package io.penstock.tier;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/// Where the reader of a [RisingWindow] waits until so many steps were read. One reader, one wait at a time; guarded by
/// itself.
final class StepGate {
  private record Waiter(int steps, MonoSink<Boolean> sink) {}

  private final Supplier<? extends RuntimeException> ended;
  private int steps;
  private boolean isOver;
  private @Nullable Throwable failure;
  private @Nullable Waiter waiter;

  /// @param ended what those hear who wait for more than came before the end
  StepGate(Supplier<? extends RuntimeException> ended) {
    this.ended = ended;
  }

  /// So many steps were read.
  void reached(int read) {
    synchronized (this) {
      steps = read;
    }
    serve();
  }

  /// Why nothing more will come; told at the [#end].
  synchronized void fail(Throwable reason) {
    failure = reason;
  }

  /// Why nothing more will come, if that was told; else `e`.
  synchronized RuntimeException reason(RuntimeException e) {
    return failure instanceof RuntimeException told ? told : e;
  }

  /// Nothing more will come.
  void end() {
    synchronized (this) {
      isOver = true;
    }
    serve();
  }

  /// True when `wanted` steps were read.
  Mono<Boolean> arrived(int wanted) {
    return Mono.create(sink -> {
      Waiter mine = new Waiter(wanted, sink);
      synchronized (this) {
        waiter = mine;
      }
      sink.onCancel(() -> forget(mine));
      serve();
    });
  }

  private synchronized void forget(Waiter gone) {
    if (gone.equals(waiter)) {
      waiter = null;
    }
  }

  /// Tells who waits, if it is time.
  private void serve() {
    Waiter served;
    Throwable reason;
    boolean over;
    synchronized (this) {
      served = waiter;
      reason = failure;
      over = isOver;
      if (served == null || !(over || steps >= served.steps())) {
        return;
      }
      waiter = null;
    }
    if (over) {
      served.sink().error(reason == null ? ended.get() : reason);
    } else {
      served.sink().success(true);
    }
  }
}
