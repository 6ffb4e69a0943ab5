package io.penstock.wire.transport.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.LastHttpContent;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.HttpHead;
import io.penstock.wire.transport.Refusal;
import io.penstock.wire.transport.TransportFailure.RefusedPeerException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.Optional;
import java.util.Set;

/// The node's side of the request that turns HTTP into a WebSocket. Any other request is answered by a status and the
/// end of the connection.
final class WebSocketUpgrade extends SimpleChannelInboundHandler<HttpObject> {
  /// Name of the handler that reads HTTP.
  static final String HTTP = "penstock.http";

  private static final String GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  private static final String VERSION = "13";
  private static final int KEY_BYTES = 16;

  private final Set<String> origins;
  private final TcpConnection connection;
  private final HttpHead.Folds folds;
  private boolean answered;
  private boolean accepted;

  /// @param folds stands before the handler that reads HTTP
  WebSocketUpgrade(Set<String> origins, TcpConnection connection, HttpHead.Folds folds) {
    this.origins = origins;
    this.folds = folds;
    this.connection = connection;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    context.read(); // without demand, which is for frames
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    if (!answered) {
      context.read();
    }
    context.fireChannelReadComplete();
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, HttpObject part) {
    if (part instanceof LastHttpContent && accepted) {
      context.pipeline().remove(this);
      context.pipeline().remove(folds);
      context.pipeline().remove(HTTP); // what it holds goes on as bytes
    }
    if (answered || !(part instanceof HttpRequest request)) {
      return;
    }
    answered = true;
    HttpHeaders headers = request.headers();
    String key = headers.get(HttpHeaderNames.SEC_WEBSOCKET_KEY, "");
    String origin = headers.get(HttpHeaderNames.ORIGIN);
    Optional<String> problem = HttpHead.problem(request);
    if (request.decoderResult().isFailure()) {
      refuse(context, HttpResponseStatus.BAD_REQUEST, "must be of HTTP (was another)");
    } else if (folds.isFolded()) {
      refuse(context, HttpResponseStatus.BAD_REQUEST, "must have each header on one line (had a folded one)");
    } else if (!request.uri().equals(Endpoint.WEB_SOCKET_PATH)) {
      refuse(context, HttpResponseStatus.NOT_FOUND, "must be for " + Endpoint.WEB_SOCKET_PATH + " (was for another)");
    } else if (!request.method().equals(HttpMethod.GET)
        || !headers.containsValue(HttpHeaderNames.UPGRADE, HttpHeaderValues.WEBSOCKET, true)
        || !headers.containsValue(HttpHeaderNames.CONNECTION, HttpHeaderValues.UPGRADE, true)
        || !headers.get(HttpHeaderNames.SEC_WEBSOCKET_VERSION, "").equals(VERSION) || !isKey(key)) {
      refuse(context, HttpResponseStatus.UPGRADE_REQUIRED, "must be for a WebSocket, version 13 (was another)");
    } else if (problem.isPresent()) {
      refuse(context, HttpResponseStatus.BAD_REQUEST, "is malformed: " + problem.get());
    } else if (origin != null && !origins.contains("*") && !origins.contains(origin)) {
      refuse(context, HttpResponseStatus.FORBIDDEN, "must come from one of the origins " + origins
          + " (came from another)");
    } else {
      accept(context, key);
    }
  }

  private static boolean isKey(String key) {
    try {
      return Base64.getDecoder().decode(key).length == KEY_BYTES;
    } catch (IllegalArgumentException e) { // it is not Base64
      return false;
    }
  }

  private void refuse(ChannelHandlerContext context, HttpResponseStatus status, String why) {
    connection.endedBy(new RefusedPeerException(Refusal.UPGRADE, "request for a WebSocket " + why));
    String upgrade = status.equals(HttpResponseStatus.UPGRADE_REQUIRED)
        ? "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        : "";
    context.writeAndFlush(ascii(context, "HTTP/1.1 " + status + "\r\nConnection: close\r\n" + upgrade
        + "Content-Length: 0\r\n\r\n")).addListener(ChannelFutureListener.CLOSE);
  }

  private void accept(ChannelHandlerContext context, String key) {
    ChannelFuture unused =
        context.writeAndFlush(ascii(context, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
            + "Connection: Upgrade\r\nSec-WebSocket-Accept: " + acceptance(key) + "\r\n\r\n"), context.voidPromise());
    accepted = true;
  }

  static ByteBuf ascii(ChannelHandlerContext context, String text) {
    return ByteBufUtil.writeAscii(context.alloc(), text);
  }

  /// Proof that the node has read the key (RFC 6455, section 4.2.2).
  static String acceptance(String key) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-1").digest((key + GUID).getBytes(StandardCharsets.US_ASCII));
      return Base64.getEncoder().encodeToString(digest);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("JDK must have SHA-1", e);
    }
  }
}
