package io.penstock.gateway;

import io.netty.channel.ChannelOption;
import io.netty.handler.ssl.SslContext;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.NonBlocking;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.resources.LoopResources;

/// Connections to engines, in a pool for each event loop. A request that came on an event loop gets its answer on the
/// same one: a token then needs no hop to another thread. Threads that are no event loops share a pool.
///
/// Threads: any.
final class EnginePools implements Supplier<HttpClient> {
  private static final Duration HANDSHAKE = Duration.ofSeconds(4);
  /// Longest wait for a connection.
  static final Duration CONNECT = Duration.ofSeconds(2);
  private static final Duration KEPT = Duration.ofSeconds(4); // vLLM closes idle connections after 5 s
  /// To one engine, from one event loop.
  private static final int MAX_CONNECTIONS = 4096;

  private final LoopResources loops;
  private final @Nullable SslContext tls;
  private final Map<Long, ConnectionProvider> pools = new ConcurrentHashMap<>();
  private final Map<Long, HttpClient> clients = new ConcurrentHashMap<>();

  /// @param loops stay the caller's to dispose
  /// @param tls for engines with `https`; null for the certificates that the JVM trusts
  EnginePools(LoopResources loops, @Nullable SslContext tls) {
    this.loops = loops;
    this.tls = tls;
  }

  /// The client for the thread that asks.
  @Override
  public HttpClient get() {
    long loop = Thread.currentThread() instanceof NonBlocking ? Thread.currentThread().threadId() : 0;
    HttpClient known = clients.get(loop);
    return known == null ? clients.computeIfAbsent(loop, this::made) : known;
  }

  private HttpClient made(long loop) {
    ConnectionProvider pool = ConnectionProvider.builder("engines").maxConnections(MAX_CONNECTIONS)
        .pendingAcquireMaxCount(MAX_CONNECTIONS).pendingAcquireTimeout(CONNECT).maxIdleTime(KEPT).build();
    pools.put(loop, pool);
    HttpClient http = HttpClient.create(pool).runOn(loops)
        .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) CONNECT.toMillis());
    SslContext given = tls;
    return given == null ? http : http.secure(spec -> spec.sslContext(given).handshakeTimeout(HANDSHAKE));
  }

  /// Closes all connections.
  Mono<Void> close() {
    return Flux.fromIterable(pools.values()).flatMap(ConnectionProvider::disposeLater).then();
  }
}
