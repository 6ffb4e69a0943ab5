package io.penstock.wire.transport;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ImmediateEventExecutor;
import io.rsocket.DuplexConnection;
import java.io.IOException;
import java.net.ConnectException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/// The client's side of the request that turns HTTP into a WebSocket.
final class WebSocketRequest extends SimpleChannelInboundHandler<HttpObject> {
  private static final int KEY_BYTES = 16;
  private static final SecureRandom RANDOM = new SecureRandom();

  private final String host;
  private final TcpConnection connection;
  private final String key;
  private final Sinks.One<DuplexConnection> upgraded = Sinks.one();
  private final Duration patience;
  private Future<?> timer = ImmediateEventExecutor.INSTANCE.newSucceededFuture(null);
  private boolean answered;
  private boolean agreed;

  /// @param patience longest wait for the answer
  WebSocketRequest(String host, Duration patience, TcpConnection connection) {
    this.host = host;
    this.patience = patience;
    this.connection = connection;
    byte[] bytes = new byte[KEY_BYTES];
    RANDOM.nextBytes(bytes);
    this.key = Base64.getEncoder().encodeToString(bytes);
  }

  /// The connection, as soon as the node has agreed.
  Mono<DuplexConnection> upgraded() {
    return upgraded.asMono().doOnCancel(connection::dispose);
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    ChannelFuture unused = context.writeAndFlush(WebSocketUpgrade.ascii(context,
        "GET " + Endpoint.WEB_SOCKET_PATH + " HTTP/1.1\r\nHost: "
            + host + "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: " + key
            + "\r\nSec-WebSocket-Version: 13\r\n\r\n"),
        context.voidPromise());
    context.read();
    timer = context.executor().schedule(() -> {
      upgraded.tryEmitError(
          new ConnectException("node must agree to a WebSocket within " + patience.toMillis() + " ms (was silent)"));
      ChannelFuture _ = context.close();
    }, patience.toMillis(), TimeUnit.MILLISECONDS);
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    timer.cancel(false);
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, HttpObject part) {
    if (part instanceof LastHttpContent && agreed) {
      context.pipeline().remove(this);
      context.pipeline().remove(WebSocketUpgrade.HTTP);
      upgraded.tryEmitValue(connection);
    }
    if (answered || !(part instanceof HttpResponse response)) {
      return;
    }
    answered = true;
    agreed = response.decoderResult().isSuccess()
        && response.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS)
        && WebSocketUpgrade.acceptance(key).equals(response.headers().get(HttpHeaderNames.SEC_WEBSOCKET_ACCEPT));
    if (!agreed) {
      ChannelFuture unused = context.close();
      upgraded.tryEmitError(
          new IOException("node must agree to a WebSocket ("
              + (response.decoderResult().isSuccess() ? "answered " + response.status() : "answered without HTTP")
              + ")"));
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    if (!answered) {
      context.read();
    }
    context.fireChannelReadComplete();
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    upgraded.tryEmitError(new IOException("node must agree to a WebSocket (closed the connection)"));
    context.fireChannelInactive();
  }
}
