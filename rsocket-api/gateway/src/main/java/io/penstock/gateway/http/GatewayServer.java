package io.penstock.gateway.http;

import io.netty.channel.Channel;
import io.netty.handler.ssl.SslHandler;
import io.penstock.wire.security.ServerTls;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.NettyPipeline;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;
import reactor.netty.resources.LoopResources;

/// The ports of the gateway.
public final class GatewayServer {
  private static final int MAX_LINE = 8 << 10;
  private static final Duration HANDSHAKE = Duration.ofSeconds(10);
  private static final Duration KEPT = Duration.ofSeconds(75);

  private GatewayServer() {}

  /// Listens for clients.
  ///
  /// @param port 0 for any free one
  /// @param loops stay the caller's to dispose
  public static Mono<? extends DisposableServer> clients(ApiRoutes routes, String host, int port,
      LoopResources loops) {
    return server(routes.options(), host, port, loops, routes::handle);
  }

  /// Listens for operators.
  ///
  /// @param port 0 for any free one
  public static Mono<? extends DisposableServer> operators(AdminRoutes routes, HttpOptions options, String host,
      int port, LoopResources loops) {
    return server(options, host, port, loops, routes::handle);
  }

  private interface Handler {
    Publisher<Void> handle(HttpServerRequest request, HttpServerResponse response);
  }

  private static Mono<? extends DisposableServer> server(HttpOptions options, String host, int port,
      LoopResources loops, Handler handler) {
    AtomicInteger connections = new AtomicInteger();
    ServerTls tls = options.tls();
    return HttpServer.create().host(host).port(port).runOn(loops).idleTimeout(KEPT)
        .httpRequestDecoder(spec -> spec.maxHeaderSize(options.headerBytes()).maxInitialLineLength(MAX_LINE))
        .doOnChannelInit((observer, channel, remote) -> {
          if (!count(channel, connections, options.connections())) {
            return;
          }
          if (tls != null) {
            SslHandler handshake = tls.handler(channel.alloc());
            handshake.setHandshakeTimeoutMillis(HANDSHAKE.toMillis());
            channel.pipeline().addFirst(NettyPipeline.SslHandler, handshake);
          }
          SlowClients.watch(channel, options.bodyTime(), options.sendTime());
        })
        .handle(handler::handle).bind();
  }

  /// Counts the connection until it ends. One that is beyond the limit is closed.
  private static boolean count(Channel channel, AtomicInteger connections, int limit) {
    boolean isWithin = connections.incrementAndGet() <= limit;
    channel.closeFuture().addListener(ended -> connections.decrementAndGet());
    if (!isWithin) {
      var _ = channel.close();
    }
    return isWithin;
  }
}
