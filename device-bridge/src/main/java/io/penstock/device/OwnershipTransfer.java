package io.penstock.device;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.Owned;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Passes an owned value to the consumer or releases it: exactly one of the two.
public final class OwnershipTransfer {
  private OwnershipTransfer() {}

  /// Passes `value` on.
  ///
  /// @param release runs if an error or a cancel comes before the value
  /// @param unreceived receives the value if another thread cancels while it is on its way to the consumer, which then
  ///     drops it
  public static <T> Mono<T> orRelease(Mono<T> value, Runnable release, Consumer<? super T> unreceived) {
    return Mono.defer(() -> {
      Passing<T> passing = new Passing<>(release, unreceived);
      return value.doOnNext(passing::begin).doOnError(e -> passing.end()).doOnCancel(passing::end)
          .doAfterTerminate(passing::received);
    });
  }

  /// One value on its way to its consumer.
  private static final class Passing<T> {
    private final Runnable release;
    private final Consumer<? super T> unreceived;
    @GuardedBy("this") private boolean ended;
    @GuardedBy("this") private @Nullable T value;
    @GuardedBy("this") private @Nullable Thread giver;

    Passing(Runnable release, Consumer<? super T> unreceived) {
      this.release = release;
      this.unreceived = unreceived;
    }

    synchronized void begin(T passed) {
      if (!ended) {
        ended = true;
        value = passed;
        giver = Thread.currentThread();
      }
    }

    synchronized void received() {
      value = null;
      giver = null;
    }

    /// Called at an error or a cancel. A consumer that cancels while it receives the value owns it.
    void end() {
      T lost;
      synchronized (this) {
        if (ended && (value == null || Thread.currentThread().equals(giver))) {
          return;
        }
        ended = true;
        lost = value;
        value = null;
      }
      if (lost == null) {
        release.run();
      } else {
        unreceived.accept(lost);
      }
    }
  }

  /// Emits `handles` one by one, on request. Handles that were not emitted when the stream ends are closed.
  static <T extends Owned> Flux<T> oneByOne(List<T> handles) {
    return Flux.defer(() -> {
      Remaining<T> remaining = new Remaining<>(handles);
      // FromIterable takes one ahead
      return Flux.range(0, handles.size()).map(remaining::take).doFinally(end -> remaining.close());
    });
  }

  /// One thread emits while another may close the remaining handles.
  private static final class Remaining<T extends Owned> {
    private final List<T> handles;
    @GuardedBy("this") private int next;

    Remaining(List<T> handles) {
      this.handles = handles;
    }

    /// Returns a handle even if it was closed in the meantime: its stream is cancelled and does not send it.
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
