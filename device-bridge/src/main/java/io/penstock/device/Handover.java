package io.penstock.device;

import io.penstock.block.Owned;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// What is owned passes to the consumer, or is given back: one of the two.
public final class Handover {
  private Handover() {}

  /// `value`, with `back` run if an error or a cancel comes before it, and `unreceived` if another thread cancels while
  /// it is on its way to the consumer, who drops it then.
  public static <T> Mono<T> orBack(Mono<T> value, Runnable back, Consumer<? super T> unreceived) {
    return Mono.defer(() -> {
      Passing<T> passing = new Passing<>(back, unreceived);
      return value.doOnNext(passing::begin).doOnError(e -> passing.end()).doOnCancel(passing::end)
          .doAfterTerminate(passing::received);
    });
  }

  /// One value on its way to its consumer.
  private static final class Passing<T> {
    private final Runnable back;
    private final Consumer<? super T> unreceived;
    /// All below are guarded by `this`.
    private boolean settled;
    private @Nullable T value;
    private @Nullable Thread giver;

    Passing(Runnable back, Consumer<? super T> unreceived) {
      this.back = back;
      this.unreceived = unreceived;
    }

    synchronized void begin(T passed) {
      if (!settled) {
        settled = true;
        value = passed;
        giver = Thread.currentThread();
      }
    }

    synchronized void received() {
      value = null;
      giver = null;
    }

    /// An error, or a cancel. The consumer that cancels while it is being given the value has it.
    void end() {
      T lost;
      synchronized (this) {
        if (settled && (value == null || Thread.currentThread().equals(giver))) {
          return;
        }
        settled = true;
        lost = value;
        value = null;
      }
      if (lost == null) {
        back.run();
      } else {
        unreceived.accept(lost);
      }
    }
  }

  /// `handles` one by one, each taken when it is asked for; those that were not handed out when the stream ends are
  /// closed.
  static <T extends Owned> Flux<T> oneByOne(List<T> handles) {
    return Flux.defer(() -> {
      Remaining<T> rest = new Remaining<>(handles);
      // FromIterable takes one ahead
      return Flux.range(0, handles.size()).map(rest::take).doFinally(end -> rest.close());
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
