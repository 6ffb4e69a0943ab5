package io.penstock.wire;

import static java.util.Objects.requireNonNull;

import io.penstock.TransientKvException;
import io.penstock.block.CacheSpace;
import io.penstock.disagg.Incarnation;
import io.penstock.tier.ByteBudget;
import io.rsocket.transport.ClientTransport;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// The connections by which a decode rank reads views of the blocks of prefill ranks: one for each rank and space, made
/// when a move wants it, and anew when it was lost.
///
/// A lost connection is made anew at once. If the rank cannot be reached twice, or another start of it answers, its
/// process is gone, and its requests need wait no longer. Safe from any thread.
public final class RankViews {
  private final Function<Incarnation, Mono<ClientTransport>> places;
  private final KvClientOptions options;
  private final ByteBudget budget;
  private final Consumer<Incarnation> gone;
  private final Duration backOff;
  private final Scheduler timers;
  private final Map<Place, Mono<RemoteViews>> connections = new ConcurrentHashMap<>();
  private final Set<RemoteViews> open = ConcurrentHashMap.newKeySet();
  private final Disposable.Composite watches = Disposables.composite();

  /// @param space that is read there
  private record Place(Incarnation rank, CacheSpace space) {}

  /// @param places where a rank listens, as a registry knows it; empty if it is gone
  /// @param budget limits the bytes in flight of all connections
  /// @param gone hears of a rank whose process is gone, such as
  ///     [io.penstock.disagg.DecodeRequests#gone(Incarnation)]
  /// @param timers for the pause between two attempts; never used for work
  public RankViews(Function<Incarnation, Mono<ClientTransport>> places, KvClientOptions options,
      KvPeerOptions connections, ByteBudget budget, Consumer<Incarnation> gone, Scheduler timers) {
    this.places = requireNonNull(places, "places");
    this.options = requireNonNull(options, "options");
    this.budget = requireNonNull(budget, "budget");
    this.gone = requireNonNull(gone, "gone");
    this.backOff = connections.backOff();
    this.timers = requireNonNull(timers, "timers");
  }

  /// The connection to `rank`.
  ///
  /// @param space of the blocks here, as at [RemoteViews#connect]
  /// @return cold; signals [RemotePermanentException] if this start of the rank is gone
  public Mono<RemoteViews> of(Incarnation rank, CacheSpace space) {
    return Mono.defer(() -> connections.computeIfAbsent(new Place(rank, space), place -> connected(place)
        .doOnError(error -> connections.remove(place)).cacheInvalidateWhen(RemoteViews::onClose)));
  }

  private Mono<RemoteViews> connected(Place place) {
    return Mono.defer(() -> places.apply(place.rank())).switchIfEmpty(Mono.error(() -> isGone(place.rank())))
        .flatMap(transport -> RemoteViews.connect(transport, options, place.space(), budget))
        .flatMap(views -> {
          if (views.generation() != place.rank().generation()) {
            return views.close().then(Mono.error(isGone(place.rank())));
          }
          open.add(views);
          watch(views.onClose(), () -> lost(place, views), failed -> {});
          return watches.isDisposed() ? views.close().then(Mono.error(isGone(place.rank()))) : Mono.just(views);
        });
  }

  private static RemotePermanentException isGone(Incarnation rank) {
    return new RemotePermanentException(ErrorCode.PERMANENT.code(), "rank " + rank + " must be there (is gone)");
  }

  private void lost(Place place, RemoteViews views) {
    open.remove(views);
    connections.remove(place); // the cache may not have heard yet
    Mono<RemoteViews> again = of(place.rank(), place.space());
    watch(again.onErrorResume(TransientKvException.class, first -> Mono.delay(backOff, timers).then(again)), () -> {},
        error -> gone.accept(place.rank()));
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
