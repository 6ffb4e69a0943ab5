package io.penstock.wire.transport;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/// Rules for the head of a request over HTTP, at every port of a node. Two readers of a head that breaks one may read
/// different things: a proxy the first of two headers, the node the second.
public final class HttpHead {
  /// Headers of which one reader may take the first and another the last.
  private static final List<CharSequence> SINGLE = List.of(HttpHeaderNames.HOST, HttpHeaderNames.ORIGIN,
      HttpHeaderNames.AUTHORIZATION, HttpHeaderNames.CONTENT_LENGTH, HttpHeaderNames.TRANSFER_ENCODING,
      HttpHeaderNames.SEC_WEBSOCKET_KEY, HttpHeaderNames.SEC_WEBSOCKET_VERSION);
  private static final Pattern HOST =
      Pattern.compile("(?:[A-Za-z0-9._-]{1,253}|\\[[0-9A-Fa-f:.]{2,45}(?:%[A-Za-z0-9._~%-]{1,32})?])(?::[0-9]{1,5})?");

  private HttpHead() {}

  /// The broken rule, as *header must be … (was …)*; empty if all hold: one Host, as a name or an address with or
  /// without a port, a target that begins with a slash, no header twice that must be there once, none of them empty,
  /// and no body.
  public static Optional<String> problem(HttpRequest request) {
    HttpHeaders headers = request.headers();
    for (CharSequence name : SINGLE) {
      List<String> values = headers.getAll(name);
      if (values.size() > 1) {
        return Optional.of(name + " must come once (came " + values.size() + " times)");
      } else if (values.size() == 1 && values.getFirst().isEmpty()) {
        return Optional.of(name + " must have a value (was empty)");
      }
    }
    String host = headers.get(HttpHeaderNames.HOST);
    boolean mayLack = request.protocolVersion().compareTo(HttpVersion.HTTP_1_1) < 0; // as the probes of old balancers
    if (host == null ? !mayLack : !HOST.matcher(host).matches()) {
      return Optional.of("host must be NAME, ADDRESS or one of them with :PORT (was " + (host == null
          ? "absent)"
          : "another)"));
    } else if (!request.uri().startsWith("/")) {
      return Optional.of("target must begin with / (began otherwise)");
    }
    return headers.contains(HttpHeaderNames.TRANSFER_ENCODING)
        || !headers.get(HttpHeaderNames.CONTENT_LENGTH, "0").equals("0")
            ? Optional.of("body must be empty (was not)")
            : Optional.empty();
  }

  /// Sees whether a line of a head goes on in the next one, before the reader of HTTP joins the two: no client may send
  /// that any more (RFC 9112, section 5.2). One head.
  public static final class Folds extends ChannelInboundHandlerAdapter {
    /// Whether the first line is over.
    private boolean begun;
    private boolean lineIsEmpty = true;
    private boolean over;
    private boolean folded;

    /// Whether a line was continued.
    public boolean isFolded() {
      return folded;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      if (!over && message instanceof ByteBuf bytes) {
        bytes.forEachByte(this::next);
      }
      context.fireChannelRead(message);
    }

    private boolean next(byte one) {
      if (one == '\n') {
        over = lineIsEmpty && begun;
        begun |= !lineIsEmpty;
        lineIsEmpty = true;
      } else if (one != '\r') {
        folded |= begun && lineIsEmpty && (one == ' ' || one == '\t');
        lineIsEmpty = false;
      }
      return !over;
    }
  }
}
