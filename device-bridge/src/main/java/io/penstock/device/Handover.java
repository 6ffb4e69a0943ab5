package io.penstock.device;

import io.penstock.block.Owned;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
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

  /// `handles` one by one, each taken when it is asked for; those that were not handed out when the stream ends are closed.
  static <T extends Owned> Flux<T> oneByOne(List<T> handles) {
    return Flux.defer(() -> {
      Remaining<T> rest = new Remaining<>(handles);
      return Flux.range(0, handles.size()).map(rest::take).doFinally(end -> rest.close()); // fromIterable takes one ahead
    });
  }

  /// Handed out by one thread, while another may close what is left.
  private static final class Remaining<T extends Owned> {
    private final List<T> handles;
    /// Guarded by `this`.
    private int next;

    Remaining(List<T> handles) {
      this.handles = handles;
    }

    /// What was closed meanwhile is answered closed: its stream is cancelled and does not send it.
    synchronized T take(int index) {
      next = Math.max(next, index + 1);
      return handles.get(index);
    }

    void close() {
      List<T> left;
      synchronized (this) {
        left = handles.subList(next, handles.size());
        next = handles.size();
      }
      left.forEach(Owned::close);
    }
  }
}
