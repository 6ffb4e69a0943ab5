package io.penstock.wire.client;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// A node as a program talks to it for days: connections that open when they are wanted, take turns, are closed when
/// idle, and are opened anew after they were lost. Safe from any thread.
///
/// One piece of work has one connection; a connection that dies fails its own work only, with
/// `ConnectionLostException`. What failed is not repeated: only the caller knows whether that is right. Leases and pins
/// that end with their connection, end when it is idle, unless they were taken to survive it.
///
/// ```
/// KvPeer peer = KvPeer.of(KvClient.connect(transport, options, space, arena, budget),
///     KvPeerOptions.defaults().withConnections(2), timers, random);
/// Mono<Integer> prefix = peer.with(client -> client.match(keys)).next();
/// ```
public final class KvPeer {
  private final List<Lane<KvClient>> lanes;
  private final AtomicInteger turns = new AtomicInteger();
  private final AtomicLong generation = new AtomicLong();
  private final AtomicLong restarts = new AtomicLong();

  private KvPeer(Mono<KvClient> connecting, KvPeerOptions options, Scheduler timers, RandomGenerator random) {
    Lane.Link<KvClient> link = new Lane.Link<>(connecting.doOnNext(this::seen), KvClient::onClose, KvClient::close);
    this.lanes = IntStream.range(0, options.connections())
        .mapToObj(i -> new Lane<>(link, options, timers, random)).toList();
  }

  /// @param connecting makes a connection at each subscription
  /// @param timers for idle times and back-off; never used for work
  /// @param random of the jitter
  public static KvPeer of(Mono<KvClient> connecting, KvPeerOptions options, Scheduler timers, RandomGenerator random) {
    return new KvPeer(connecting, options, timers, random);
  }

  private void seen(KvClient client) {
    long before = generation.getAndSet(client.generation());
    if (before != 0 && before != client.generation()) {
      restarts.incrementAndGet();
    }
  }

  /// Runs `work` with one of the connections, which stays open until it ends.
  ///
  /// @return cold; each subscription takes the next connection in turn. Signals those of `work`, and why the node
  ///     cannot be reached
  public <T> Flux<T> with(Function<KvClient, ? extends Publisher<T>> work) {
    return Flux.defer(() -> lanes.get(Math.floorMod(turns.getAndIncrement(), lanes.size())).with(work));
  }

  /// Connections that are open now.
  public int connections() {
    return (int) lanes.stream().filter(Lane::isOpen).count();
  }

  /// How often the node was found to have been started anew: sequences of events begin anew, and what was in its memory
  /// is gone.
  public long restarts() {
    return restarts.get();
  }

  /// Ends all connections; work that runs fails. Lazy and idempotent.
  public Mono<Void> close() {
    return Flux.fromIterable(lanes).flatMap(Lane::close, lanes.size(), 1).then();
  }
}
