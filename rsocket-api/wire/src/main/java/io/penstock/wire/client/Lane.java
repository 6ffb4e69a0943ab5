package io.penstock.wire.client;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.TransientKvException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// One connection to a peer. It opens when work wants it, closes after a time without work, and opens again after it
/// was lost. Safe from any thread.
///
/// An opening has two attempts, the second after a back-off with jitter, and only for a transient failure. When both
/// fail, work fails at once until a time has passed that doubles with each such failure: a peer that is gone does not
/// cost an attempt for each request.
///
/// @param <C> a connection
public final class Lane<C> {
  /// Operations of a connection.
  ///
  /// @param open cold; each subscription makes one
  /// @param onClose completes when it is gone
  /// @param close lazy
  public record Link<C>(Mono<C> open, Function<C, Mono<Void>> onClose, Function<C, Mono<Void>> close) {}

  /// Work came after the end of its lane.
  public static final class ClosedException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    ClosedException() {
      super("connections to a peer must be open (were closed)");
    }
  }

  private static final double LEAST_JITTER = 0.5;
  private static final int MOST_DOUBLINGS = 16;

  private final Link<C> link;
  private final KvPeerOptions options;
  private final Scheduler timers;
  private final RandomGenerator random;

  @GuardedBy("this") private @Nullable C open;
  @GuardedBy("this") private @Nullable Mono<C> opening;
  @GuardedBy("this") private int users;
  @GuardedBy("this") private int failures;
  @GuardedBy("this") private long notBeforeMillis;
  @GuardedBy("this") private @Nullable Throwable lastFailure;
  @GuardedBy("this") private Disposable idle = Disposables.disposed();
  @GuardedBy("this") private boolean closed;

  public Lane(Link<C> link, KvPeerOptions options, Scheduler timers, RandomGenerator random) {
    this.link = link;
    this.options = options;
    this.timers = timers;
    this.random = random;
  }

  /// Runs `work` with the connection, which is not idle until it ends.
  public <T> Flux<T> with(Function<C, ? extends Publisher<T>> work) {
    return Flux.usingWhen(taken(), work, connection -> Mono.fromRunnable(this::release));
  }

  private Mono<C> taken() {
    return Mono.defer(this::take).doOnError(failed -> release()).doOnCancel(this::release);
  }

  private synchronized Mono<C> take() {
    users++;
    idle.dispose();
    C connection = open;
    if (closed) {
      return Mono.error(new ClosedException());
    }
    if (connection != null) {
      return Mono.just(connection);
    }
    Throwable failure = lastFailure;
    if (failure != null && timers.now(TimeUnit.MILLISECONDS) < notBeforeMillis) {
      return Mono.error(failure);
    }
    Mono<C> attempt = opening;
    if (attempt == null) {
      attempt = link.open()
          .onErrorResume(TransientKvException.class,
              first -> Mono.delay(jittered(options.backOff()), timers).then(link.open()))
          .doOnNext(this::opened).doOnError(this::failed).cache();
      opening = attempt;
    }
    return attempt;
  }

  private Duration jittered(Duration most) {
    double drawn;
    synchronized (random) { // lanes share it
      drawn = random.nextDouble();
    }
    double part = LEAST_JITTER + (1 - LEAST_JITTER) * drawn;
    return Duration.ofMillis(Math.max(1, (long) (most.toMillis() * part)));
  }

  private void opened(C connection) {
    boolean late;
    synchronized (this) {
      opening = null;
      failures = 0;
      lastFailure = null;
      late = closed;
      open = late ? null : connection;
      watchIdle(); // the work that wanted it may have been cancelled
    }
    if (late) {
      link.close().apply(connection).subscribe(nothing -> {}, failed -> {});
    }
    link.onClose().apply(connection).onErrorComplete().subscribe(nothing -> {}, failed -> {}, () -> lost(connection));
  }

  private synchronized void failed(Throwable failure) {
    opening = null;
    lastFailure = failure;
    Duration doubled = options.backOff().multipliedBy(1L << Math.min(failures++, MOST_DOUBLINGS));
    Duration pause = doubled.compareTo(options.mostBackOff()) < 0 ? doubled : options.mostBackOff();
    notBeforeMillis = timers.now(TimeUnit.MILLISECONDS) + jittered(pause).toMillis();
  }

  @SuppressWarnings("ReferenceEquality") // this very connection
  private synchronized void lost(C connection) {
    if (open == connection) {
      open = null;
    }
  }

  private synchronized void release() {
    users--;
    watchIdle();
  }

  @GuardedBy("this") private void watchIdle() {
    if (users == 0 && open != null) {
      idle.dispose();
      idle = timers.schedule(this::letGo, options.idleAfter().toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  private void letGo() {
    C leaving;
    synchronized (this) {
      leaving = users == 0 ? open : null;
      open = leaving == null ? open : null;
    }
    if (leaving != null) {
      link.close().apply(leaving).subscribe(nothing -> {}, failed -> {});
    }
  }

  synchronized boolean isOpen() {
    return open != null;
  }

  /// Ends the connection for good, unless work runs, or is about to.
  ///
  /// @param busy whether work of others runs on a connection
  /// @return whether it was ended
  public boolean endUnless(Predicate<C> busy) {
    C leaving;
    synchronized (this) {
      leaving = open;
      if (users > 0 || opening != null || (leaving != null && busy.test(leaving))) {
        return false;
      }
      closed = true;
      idle.dispose();
      open = null;
    }
    if (leaving != null) {
      link.close().apply(leaving).subscribe(nothing -> {}, failed -> {});
    }
    return true;
  }

  /// Ends the connection; work that runs fails. Lazy and idempotent.
  public Mono<Void> close() {
    return Mono.defer(() -> {
      C leaving;
      synchronized (this) {
        closed = true;
        idle.dispose();
        leaving = open;
        open = null;
      }
      return leaving == null ? Mono.empty() : link.close().apply(leaving);
    });
  }
}
