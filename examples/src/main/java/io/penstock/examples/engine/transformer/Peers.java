package io.penstock.examples.engine.transformer;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.CacheSpace;
import io.penstock.wire.PenstockClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
    private volatile @Nullable PenstockClient connected;
    /// Until when it is left alone, by the clock.
    private volatile @Nullable Long pausedUntil;

    Peer(Mono<PenstockClient> connecting) {
      this.client = connecting.doOnNext(client -> connected = client).cacheInvalidateIf(client -> false);
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
    Long until = peer.pausedUntil;
    if (until != null && nanos.getAsLong() - until < 0) {
      return otherwise;
    }
    try {
      Optional<T> result = Waits.await(peer.client.flatMap(use::with), patience);
      peer.pausedUntil = null;
      return result.orElse(otherwise);
    } catch (Waits.FailedException e) {
      LOG.warn("going on without {}: {}", address, String.valueOf(e.getCause()));
      peer.pausedUntil = nanos.getAsLong() + PAUSE.toNanos();
      return otherwise;
    }
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
    Peer peer = new Peer(PenstockClient.connect(address, space));
    peers.put(address, peer);
    return peer;
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
