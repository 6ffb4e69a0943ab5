package io.penstock.node.admin;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.concurrent.Future;
import io.penstock.wire.security.ServerTls;
import io.penstock.wire.transport.HttpHead;
import io.penstock.wire.transport.SourceAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.netty.Connection;

/// One connection to the admin endpoints: one request, one answer, and the end. All of it has one time limit, so a
/// client that is slow (in the handshake of TLS, with a header, with a body, or in reading the answer) has the
/// connection no longer than others. On the event loop of the channel.
final class AdminConnection extends SimpleChannelInboundHandler<HttpObject> {
  private static final Logger LOG = LoggerFactory.getLogger(AdminConnection.class);
  private static final HttpDecoderConfig HTTP =
      new HttpDecoderConfig().setMaxInitialLineLength(4 << 10).setMaxHeaderSize(8 << 10).setChunkedSupported(false);
  private static final String HANDLER = "penstock.admin";
  /// A client that still sends may read the answer for so long before the connection is reset.
  private static final long LINGER_MILLIS = 500;

  private final Channel channel;
  private final AdminGate gate;
  private final HttpHead.Folds folds = new HttpHead.Folds();
  private final Disposable.Swap answering = Disposables.swap();
  private volatile boolean asked;
  private Future<?> timer;

  private AdminConnection(Channel channel, AdminGate gate) {
    this.channel = channel;
    this.gate = gate;
    this.timer = channel.eventLoop().schedule(this::close, gate.options().timeout().toMillis(), TimeUnit.MILLISECONDS);
  }

  /// Takes over a connection that a server accepted.
  static void accept(Connection accepted, AdminGate gate, AdminConnections all) {
    AdminConnection one = new AdminConnection(accepted.channel(), gate);
    accepted.addHandlerLast(HANDLER, one);
    ChannelPipeline pipeline = accepted.channel().pipeline();
    ServerTls tls = gate.options().tls();
    if (tls != null) {
      pipeline.addBefore(HANDLER, "penstock.tls", tls.handler(accepted.channel().alloc()));
    }
    pipeline.addBefore(HANDLER, "penstock.folds", one.folds);
    pipeline.addBefore(HANDLER, "penstock.http", new HttpServerCodec(HTTP));
    accepted.channel().closeFuture().addListener(closed -> {
      one.ended();
      all.leave(one);
    });
    all.enter(one);
    accepted.channel().config().setAutoRead(true);
  }

  /// Whether no request has come.
  boolean isWaiting() {
    return !asked;
  }

  /// Equal for connections of one peer.
  Object source() {
    return SourceAddress.of(channel.remoteAddress());
  }

  void close() {
    ChannelFuture unused = channel.close();
  }

  private void ended() {
    timer.cancel(false);
    answering.dispose();
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, HttpObject part) {
    if (asked || !(part instanceof HttpRequest request)) {
      return; // the rest of a request that was answered, or a second one
    }
    asked = true;
    String problem = problem(request);
    Mono<Page> answer = problem == null
        ? Mono.defer(() -> gate.answer(request, channel)).onErrorReturn(IllegalArgumentException.class,
            Page.refused(HttpResponseStatus.BAD_REQUEST,
                "target must be a path with escapes as of a URL (was another)"))
        : Mono.just(Page.refused(HttpResponseStatus.BAD_REQUEST, problem));
    answering.update(answer.subscribe(page -> channel.eventLoop().execute(() -> send(page)), this::failed));
  }

  private @Nullable String problem(HttpRequest request) {
    return request.decoderResult().isFailure()
        ? "request must be of HTTP, with a head of <= 8 KiB (was another)"
        : folds.isFolded()
            ? "each header must be on one line (one was folded)"
            : HttpHead.problem(request).orElse(null);
  }

  private void failed(Throwable failure) {
    LOG.warn("an admin endpoint failed: {}", failure.toString());
    channel.eventLoop().execute(() -> send(Page.refused(HttpResponseStatus.INTERNAL_SERVER_ERROR,
        "the endpoint failed")));
  }

  private void send(Page page) {
    ByteBuf bytes = Unpooled.copiedBuffer(page.text(), StandardCharsets.UTF_8);
    FullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, page.status(), bytes);
    HttpHeaders headers = response.headers();
    headers.set(HttpHeaderNames.CONTENT_TYPE, page.type()).set(HttpHeaderNames.CONTENT_LENGTH, bytes.readableBytes())
        .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE).set(HttpHeaderNames.CACHE_CONTROL, "no-store")
        .set("x-content-type-options", "nosniff").set("cross-origin-resource-policy", "same-origin");
    if (page.status().equals(HttpResponseStatus.UNAUTHORIZED)) {
      headers.set(HttpHeaderNames.WWW_AUTHENTICATE, "Basic realm=\"penstock\", charset=\"UTF-8\"");
    }
    channel.writeAndFlush(response).addListener((ChannelFutureListener) sent -> {
      if (sent.isSuccess()) {
        timer.cancel(false);
        timer = channel.eventLoop().schedule(this::close, LINGER_MILLIS, TimeUnit.MILLISECONDS);
      } else {
        close();
      }
    });
  }

  /// A peer that breaks TLS, resets its connection or sends noise: nothing of it is worth a line.
  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable thrown) {
    LOG.debug("an admin connection ended: {}", thrown.toString());
    close();
  }
}
