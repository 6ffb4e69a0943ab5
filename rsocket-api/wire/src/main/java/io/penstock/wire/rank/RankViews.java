package io.penstock.wire.rank;

import static java.util.Objects.requireNonNull;

import io.penstock.TransientKvException;
import io.penstock.block.CacheSpace;
import io.penstock.disagg.Incarnation;
import io.penstock.disagg.request.FailurePolicy;
import io.penstock.tier.ByteBudget;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.KvPeerOptions;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import io.penstock.wire.protocol.WireFailure.RemoteTransientException;
import io.rsocket.transport.ClientTransport;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.util.retry.Retry;

/// The connections by which a decode rank reads views of the blocks of prefill ranks: one for each rank and space,
/// opened when a move wants it, and again when it was lost.
///
/// A lost connection is opened again at once. While the rank cannot be reached, attempts follow each other after pauses
/// that double, with jitter, and all callers that want the connection wait. If that lasts longer than the patience, or
/// another start of the rank answers, its process is gone, and its requests need not wait any longer. Safe from any
/// thread.
public final class RankViews {
  private final Function<Incarnation, Mono<ClientTransport>> places;
  private final KvClientOptions options;
  private final ByteBudget budget;
  private final Consumer<Incarnation> gone;
  private final FailurePolicy pauses;
  private final Duration patience;
  private final Scheduler timers;
  private final RandomGenerator random;
  private final Map<Place, Kept> connections = new ConcurrentHashMap<>();
  private final Set<RemoteViews> open = ConcurrentHashMap.newKeySet();
  private final Disposable.Composite watches = Disposables.composite();

  /// @param space that is read there
  private record Place(Incarnation rank, CacheSpace space) {}

  /// The connection to a place, until it is lost or cannot be made: the next one has another of these.
  private final class Kept {
    final Mono<RemoteViews> views;

    Kept(Place place) {
      this.views = patient(connected(place, this)).doOnError(error -> connections.remove(place, this))
          .cacheInvalidateWhen(RemoteViews::onClose);
    }
  }

  /// @param places where a rank listens, as a registry knows it; empty if the registry does not know it at the moment,
  ///     a permanent failure if it is gone for good
  /// @param budget limits the bytes in flight of all connections
  /// @param gone hears of a rank whose process is gone, such as
  ///     [io.penstock.disagg.request.DecodeConnector#gone(Incarnation)]
  /// @param connections back-off between two attempts, and patience
  /// @param timers for pauses; never used for work
  /// @param random of the jitter
  public RankViews(Function<Incarnation, Mono<ClientTransport>> places, KvClientOptions options,
      KvPeerOptions connections, ByteBudget budget, Consumer<Incarnation> gone, Scheduler timers,
      RandomGenerator random) {
    this.places = requireNonNull(places, "places");
    this.options = requireNonNull(options, "options");
    this.budget = requireNonNull(budget, "budget");
    this.gone = requireNonNull(gone, "gone");
    this.pauses = FailurePolicy.fail().withPause(connections.backOff(), connections.mostBackOff());
    this.patience = connections.patience();
    this.timers = requireNonNull(timers, "timers");
    this.random = requireNonNull(random, "random");
  }

  /// The connection to `rank`.
  ///
  /// @param space of the blocks here, as at [RemoteViews#connect]
  /// @return cold; signals [RemotePermanentException] if another start of the rank answers, and a transient failure if
  ///     it is not known, or cannot be reached, for as long as the patience
  public Mono<RemoteViews> of(Incarnation rank, CacheSpace space) {
    return Mono.defer(() -> connections.computeIfAbsent(new Place(rank, space), Kept::new).views);
  }

  /// Tries again after a transient failure, as long as the patience lasts.
  private Mono<RemoteViews> patient(Mono<RemoteViews> attempt) {
    return Mono.defer(() -> {
      long end = timers.now(TimeUnit.NANOSECONDS) + patience.toNanos();
      return attempt.retryWhen(Retry.from(failures -> failures.concatMap(failed -> pause(failed, end), 1)));
    });
  }

  private Mono<Long> pause(Retry.RetrySignal failed, long end) {
    Duration pause = pauseBefore((int) Math.min(failed.totalRetries() + 1, Integer.MAX_VALUE));
    boolean isLast = timers.now(TimeUnit.NANOSECONDS) + pause.toNanos() - end > 0;
    return !(failed.failure() instanceof TransientKvException) || isLast || watches.isDisposed()
        ? Mono.error(failed.failure())
        : Mono.delay(pause, timers);
  }

  private Duration pauseBefore(int retry) {
    synchronized (random) { // connections share it
      return pauses.pauseBefore(retry, random);
    }
  }

  private Mono<RemoteViews> connected(Place place, Kept kept) {
    return Mono.defer(() -> places.apply(place.rank())).switchIfEmpty(Mono.error(() -> isUnknown(place.rank())))
        .flatMap(transport -> RemoteViews.connect(transport, options, place.space(), budget))
        .flatMap(views -> {
          if (views.generation() != place.rank().generation()) {
            return views.close().then(Mono.error(isGone(place.rank())));
          }
          open.add(views);
          watch(views.onClose(), () -> lost(place, kept, views), failed -> {});
          return watches.isDisposed() ? views.close().then(Mono.error(isGone(place.rank()))) : Mono.just(views);
        });
  }

  /// A registry that has just started, or a rank that stood still, knows better soon.
  static RemoteTransientException isUnknown(Incarnation rank) {
    return new RemoteTransientException(ErrorCode.TRANSIENT.code(),
        "rank " + rank + " must be registered (is not known at the moment)");
  }

  private static RemotePermanentException isGone(Incarnation rank) {
    return new RemotePermanentException(ErrorCode.PERMANENT.code(), "rank " + rank + " must be there (is gone)");
  }

  private void lost(Place place, Kept kept, RemoteViews views) {
    open.remove(views);
    connections.remove(place, kept); // its cache may not have heard yet
    watch(of(place.rank(), place.space()), () -> {}, error -> gone.accept(place.rank()));
  }

  /// Waits for the end of `work`, unless all is closed.
  private void watch(Mono<?> work, Runnable completed, Consumer<Throwable> failed) {
    Disposable.Swap one = Disposables.swap();
    if (watches.add(one)) {
      one.update(work.doFinally(end -> watches.remove(one)).subscribe(any -> {}, failed, completed));
    }
  }

  /// Ends all connections; moves that run fail. Lazy and idempotent.
  public Mono<Void> close() {
    return Mono.defer(() -> {
      watches.dispose();
      return Flux.fromIterable(open).flatMap(RemoteViews::close, Integer.MAX_VALUE, 1).then();
    });
  }
}
