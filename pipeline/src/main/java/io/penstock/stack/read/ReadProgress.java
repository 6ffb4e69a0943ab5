package io.penstock.stack.read;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/// Counts the steps of a [StoreWindow] that were read, and wakes the reader that waits for more. One reader, one wait
/// at a time. Safe from any thread.
final class ReadProgress {
  private record Waiter(int steps, MonoSink<Boolean> sink) {}

  private final Supplier<? extends RuntimeException> ended;
  @GuardedBy("this") private int steps;
  @GuardedBy("this") private boolean isOver;
  @GuardedBy("this") private @Nullable Throwable failure;
  @GuardedBy("this") private @Nullable Waiter waiter;

  /// @param ended the error of a reader that waits for more steps than were read before the end
  ReadProgress(Supplier<? extends RuntimeException> ended) {
    this.ended = ended;
  }

  /// Wakes the reader if it waits for `read` steps or fewer.
  void reached(int read) {
    synchronized (this) {
      steps = read;
    }
    serve();
  }

  /// Keeps the reason why no more steps will be read. [#end] passes it to the reader.
  synchronized void fail(Throwable reason) {
    failure = reason;
  }

  /// The reason given to [#fail]; `e` if there is none.
  synchronized RuntimeException reason(RuntimeException e) {
    return failure instanceof RuntimeException told ? told : e;
  }

  /// Ends the wait of the reader: no more steps will be read.
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

  /// Serves the reader, if it has waited long enough.
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
