package io.penstock.examples.engine.transformer;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.node.text.Reason;
import io.penstock.tier.TierHolds;
import io.penstock.wire.PenstockClient;
import io.penstock.wire.client.KvClientOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Connections to the nodes from which an engine loads blocks: the one that all share, and prefills. A node that fails
/// is left alone for a while: an engine can compute what it cannot load.
final class Peers {
  private static final Logger LOG = LoggerFactory.getLogger(Peers.class);
  private static final Duration PAUSE = Duration.ofSeconds(1);
  private static final int MAX_PEERS = 64;
  /// Longest life of a lease on blocks of a request that waits here; a lease ends with its connection, too.
  private static final Duration MOST_WAIT = Duration.ofMinutes(2);
  /// A node drops the connection, and ends its leases, when this process is silent for so long. One that was killed
  /// needs no silence: its sockets are closed.
  private static final Duration SILENCE = Duration.ofSeconds(10);
  private static final Duration SIGN_OF_LIFE = Duration.ofSeconds(2);

  private final CacheSpace space;
  private final LongSupplier nanos;

  /// The one that was used last is last.
  @GuardedBy("this") private final Map<String, Peer> peers = new LinkedHashMap<>(MAX_PEERS, 0.75f, true);

  /// @param nanos a monotonic clock
  Peers(CacheSpace space, LongSupplier nanos) {
    this.space = space;
    this.nanos = nanos;
  }

  /// One node, from the first use on.
  private static final class Peer {
    private final Mono<PenstockClient> client;
    private final Mono<TierHolds> holds;
    private volatile @Nullable PenstockClient connected;
    /// Until when it is left alone, by the clock.
    private volatile @Nullable Long pausedUntil;

    Peer(Mono<PenstockClient> connecting) {
      this.client = connecting.doOnNext(client -> connected = client).cacheInvalidateIf(client -> false);
      this.holds = client.map(open -> open.tier().holds(this)).cacheInvalidateIf(held -> false);
    }

    Mono<Void> close() {
      PenstockClient open = connected;
      return open == null ? Mono.empty() : open.close();
    }
  }

  /// Something that is done with a connection.
  interface Use<T> {
    Mono<T> with(PenstockClient client);
  }

  /// Uses the connection to a node.
  ///
  /// @return the result, or `otherwise` if the node fails, takes too long, or did so a moment ago
  <T> T use(String address, Duration patience, Use<T> use, T otherwise) throws InterruptedException {
    Peer peer = peer(address);
    if (isPaused(peer)) {
      return otherwise;
    }
    try {
      Optional<T> result = Waits.await(peer.client.flatMap(use::with), patience);
      peer.pausedUntil = null;
      return result.orElse(otherwise);
    } catch (Waits.FailedException e) {
      LOG.warn("going on without {}: {}", address, e.getCause() instanceof TimeoutException
          ? "no answer within " + patience.toMillis() + " ms"
          : Reason.ofCause(e));
      peer.pausedUntil = nanos.getAsLong() + PAUSE.toNanos();
      return otherwise;
    }
  }

  /// Leases blocks at a node while a request waits for its turn. A node that fails leases none.
  ///
  /// @return ends the lease
  Runnable lease(String address, List<BlockKey> keys) {
    Peer peer = peer(address);
    if (keys.isEmpty() || isPaused(peer)) {
      return () -> {};
    }
    Mono<TierHolds.ReadLease> lease = peer.holds
        .flatMap(holds -> holds.lease(keys, TierHolds.LeaseTerms.defaults().withLife(MOST_WAIT))).cache();
    lease.subscribe(leased -> {}, failure -> LOG.debug("no lease at {}", address, failure));
    return () -> lease.filter(leased -> leased.id() != 0)
        .flatMap(leased -> peer.holds.flatMap(holds -> holds.release(leased.id())))
        .subscribe(released -> {}, failure -> LOG.debug("the lease at {} has ended before", address, failure));
  }

  private boolean isPaused(Peer peer) {
    Long until = peer.pausedUntil;
    return until != null && nanos.getAsLong() - until < 0;
  }

  private synchronized Peer peer(String address) {
    Peer known = peers.get(address);
    if (known != null) {
      return known;
    }
    if (peers.size() == MAX_PEERS) {
      Peer eldest = peers.remove(peers.keySet().iterator().next());
      if (eldest != null) {
        eldest.close().subscribe(closed -> {}, failure -> LOG.warn("a connection did not end in order", failure));
      }
    }
    Peer peer = new Peer(PenstockClient.connect(address, options()));
    peers.put(address, peer);
    return peer;
  }

  private PenstockClient.Options options() {
    PenstockClient.Options options = PenstockClient.Options.of(space);
    return options.withConnection(KvClientOptions.builder().windowBlocks(options.connection().windowBlocks())
        .keepAlive(SIGN_OF_LIFE, SILENCE).build());
  }

  /// Drops all connections.
  Mono<Void> close() {
    return Mono.defer(() -> {
      List<Peer> all;
      synchronized (this) {
        all = new ArrayList<>(peers.values());
        peers.clear();
      }
      return Flux.fromIterable(all).flatMap(Peer::close).then();
    });
  }
}
