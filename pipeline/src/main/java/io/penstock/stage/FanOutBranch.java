package io.penstock.stage;

import io.penstock.block.Checks;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;

/// One destination of a [FanOut]: a bounded queue with its own demand. Its state is guarded by the hub.
final class FanOutBranch<T> extends Flux<T> implements Subscription {
  private final FanOutHub<T> hub;
  private final int number;
  private final UnaryOperator<T> share;
  private final Consumer<T> release;
  private final ToLongFunction<? super T> weigher;
  private final Serial signals = new Serial(this::step);

  private volatile @Nullable CoreSubscriber<? super T> actual;
  private final ArrayDeque<T> waiting = new ArrayDeque<>();
  private long waitingBytes;
  private long demand;
  private boolean taken;
  private boolean over;
  private boolean ended;
  private @Nullable Throwable failure;

  FanOutBranch(FanOutHub<T> hub, int number, UnaryOperator<T> share, Consumer<T> release,
      ToLongFunction<? super T> weigher) {
    this.hub = hub;
    this.number = number;
    this.share = share;
    this.release = release;
    this.weigher = weigher;
  }

  @Override
  public void subscribe(CoreSubscriber<? super T> subscriber) {
    synchronized (hub) {
      if (taken) {
        Operators.error(subscriber,
            new IllegalStateException("destination must have one subscriber (was a second one)"));
        return;
      }
      taken = true;
    }
    actual = subscriber;
    subscriber.onSubscribe(this);
    hub.joined();
  }

  @Override
  public void request(long n) {
    if (n <= 0) {
      fail(Checks.misrequest(n));
      return;
    }
    synchronized (hub) {
      demand = Operators.addCap(demand, n);
    }
    drain();
    hub.pull();
  }

  @Override
  public void cancel() {
    synchronized (hub) {
      over = true;
    }
    drain();
    hub.pull();
  }

  void drain() {
    signals.run();
  }

  /// Guarded by the hub, as are the next three.
  boolean isLive() {
    return !over && !ended;
  }

  boolean isFull(FanOutOptions limits) {
    return waiting.size() >= limits.lagElements() || waitingBytes >= limits.lagBytes();
  }

  boolean isHungry() {
    return demand > waiting.size();
  }

  void end(@Nullable Throwable error) {
    if (isLive()) {
      ended = true;
      failure = error;
    }
  }

  /// Queues a share of `element` unless nobody wants it any more; false if this destination is full.
  boolean offer(T element, long bytes, FanOutOptions limits) {
    synchronized (hub) {
      if (!isLive()) {
        return true;
      } else if (isFull(limits)) {
        return false;
      }
    }
    T own = share.apply(element);
    synchronized (hub) {
      if (isLive()) {
        waiting.add(own);
        waitingBytes += bytes;
        return true;
      }
    }
    release.accept(own);
    return true;
  }

  /// Ends this destination at once: what waits for it is freed before it is told.
  void dropForLag(FanOutOptions limits) {
    LaggedException lagged;
    synchronized (hub) {
      lagged = new LaggedException(number, waiting.size(), waitingBytes, limits);
    }
    fail(lagged);
  }

  private void fail(Throwable error) {
    List<T> dropped;
    synchronized (hub) {
      if (over) {
        return;
      }
      ended = true; // also if the source has ended, and something still waits
      failure = error;
      dropped = clear();
    }
    dropped.forEach(release);
    drain();
    hub.pull();
  }

  private boolean step() {
    CoreSubscriber<? super T> to = actual;
    if (to == null) {
      return false;
    }
    List<T> dropped = List.of();
    T next = null;
    boolean end = false;
    Throwable error;
    synchronized (hub) {
      error = failure;
      if (over) {
        actual = null; // nothing more goes there
        dropped = clear();
      } else if (demand > 0 && !waiting.isEmpty()) {
        demand = demand == Long.MAX_VALUE ? demand : demand - 1;
        next = waiting.remove();
        waitingBytes -= weigher.applyAsLong(next);
      } else if (ended && waiting.isEmpty()) {
        over = true;
        end = true;
      }
    }
    if (next != null) {
      to.onNext(next);
      hub.pull();
    } else if (end && error != null) {
      to.onError(error);
    } else if (end) {
      to.onComplete();
    }
    dropped.forEach(release);
    return next != null || end || !dropped.isEmpty();
  }

  private List<T> clear() {
    List<T> dropped = new ArrayList<>(waiting);
    waiting.clear();
    waitingBytes = 0;
    return dropped;
  }
}
