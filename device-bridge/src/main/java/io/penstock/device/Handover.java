package io.penstock.device;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Owned;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// What is owned passes to the consumer, or is given back: one of the two.
final class Handover {
  private Handover() {}

  /// `value`, with `back` run if an error or a cancel comes before it.
  static <T> Mono<T> orBack(Mono<T> value, Runnable back) {
    return Mono.defer(() -> {
      AtomicBoolean settled = new AtomicBoolean();
      Runnable once = () -> {
        if (settled.compareAndSet(false, true)) {
          back.run();
        }
      };
      return value.doOnNext(got -> settled.set(true)).doOnError(e -> once.run()).doOnCancel(once);
    });
  }

  /// `handles` one by one; those that were not handed out when the stream ends are closed.
  static <T extends Owned> Flux<T> oneByOne(List<T> handles) {
    return Flux.defer(() -> {
      Queue<T> rest = new ConcurrentLinkedQueue<>(handles);
      return Flux.fromIterable(() -> new Remaining<>(rest)).doFinally(end -> closeAll(rest));
    });
  }

  private static <T extends Owned> void closeAll(Queue<T> rest) {
    for (T next = rest.poll(); next != null; next = rest.poll()) {
      next.close();
    }
  }

  /// Of one thread, over a queue that another may empty.
  private static final class Remaining<T> implements Iterator<T> {
    private final Queue<T> rest;
    private @Nullable T next;

    Remaining(Queue<T> rest) {
      this.rest = rest;
    }

    @Override
    public boolean hasNext() {
      if (next == null) {
        next = rest.poll();
      }
      return next != null;
    }

    @Override
    public T next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      T handedOut = requireNonNull(next);
      next = null;
      return handedOut;
    }
  }
}
