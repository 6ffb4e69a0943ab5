package io.penstock.stage;

import static java.util.Objects.requireNonNull;

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

/// The middle of a [FanOut]: one subscriber of the source, several branches. Written by hand because Reactor's
/// `publish` stops at its slowest subscriber, bounds no bytes and hands every subscriber the same element.
///
/// The state of hub and branches is guarded by `this`; signals leave outside the lock.
final class FanOutHub<T> implements CoreSubscriber<T> {
  private final Flux<T> source;
  private final List<FanOutBranch<T>> branches = new ArrayList<>();
  private final Consumer<T> release;
  private final ToLongFunction<? super T> weigher;
  private final FanOutOptions options;
  private final Serial pulls = new Serial(this::pullStep);

  private volatile @Nullable Subscription upstream;
  private int awaited;
  private boolean pulling;
  private boolean ended;
  private boolean abandoned;

  FanOutHub(Flux<T> source, List<UnaryOperator<T>> shares, Consumer<T> release, ToLongFunction<? super T> weigher,
      FanOutOptions options) {
    this.source = source;
    this.release = release;
    this.weigher = weigher;
    this.options = options;
    this.awaited = shares.size();
    for (UnaryOperator<T> share : shares) {
      branches.add(new FanOutBranch<>(this, branches.size(), share, release, weigher));
    }
  }

  List<FanOutBranch<T>> branches() {
    return branches;
  }

  /// A branch has its subscriber; with the last one the source is subscribed to.
  void joined() {
    synchronized (this) {
      awaited--;
      if (awaited > 0 || branches.stream().noneMatch(FanOutBranch::isLive)) {
        return;
      }
    }
    source.subscribe(this);
  }

  /// Something changed that may allow or call for the next element.
  void pull() {
    pulls.run();
  }

  @Override
  public void onSubscribe(Subscription subscription) {
    if (Operators.validate(upstream, subscription)) {
      upstream = subscription;
      pull();
    }
  }

  @Override
  public void onNext(T element) {
    requireNonNull(element, "element");
    try {
      give(element);
    } catch (RuntimeException e) { // a share or a weight could not be had
      requireNonNull(upstream, "upstream").cancel();
      end(e);
      return;
    } finally {
      release.accept(element);
    }
    branches.forEach(FanOutBranch::drain);
    pull();
  }

  private void give(T element) {
    long bytes = weigher.applyAsLong(element);
    for (FanOutBranch<T> branch : branches) {
      if (!branch.offer(element, bytes, options)) {
        branch.dropForLag(options);
      }
    }
    synchronized (this) {
      pulling = false;
    }
  }

  @Override
  public void onError(Throwable error) {
    requireNonNull(error, "error");
    end(error);
  }

  @Override
  public void onComplete() {
    end(null);
  }

  private void end(@Nullable Throwable error) {
    synchronized (this) {
      if (ended) {
        return;
      }
      ended = true;
      branches.forEach(branch -> branch.end(error));
    }
    branches.forEach(FanOutBranch::drain);
  }

  private boolean pullStep() {
    Subscription from = upstream;
    if (from == null) {
      return false;
    }
    boolean cancel;
    synchronized (this) {
      if (ended || abandoned) {
        return false;
      }
      cancel = branches.stream().noneMatch(FanOutBranch::isLive);
      if (cancel) {
        abandoned = true;
      } else if (pulling || !isWanted()) {
        return false;
      } else {
        pulling = true;
      }
    }
    if (cancel) {
      from.cancel();
    } else {
      from.request(1);
    }
    return true;
  }

  private boolean isWanted() {
    boolean wanted = false;
    for (FanOutBranch<T> branch : branches) {
      if (branch.isLive()) {
        if (options.whenFull() == FanOutOptions.WhenFull.HOLD && branch.isFull(options)) {
          return false;
        }
        wanted |= branch.isHungry();
      }
    }
    return wanted;
  }
}
