package io.penstock.wire.transport.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.ssl.NotSslRecordException;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import io.netty.util.concurrent.Future;
import io.penstock.check.InternetAddress;
import io.penstock.wire.security.ClientTls;
import io.penstock.wire.security.ServerTls;
import io.penstock.wire.security.TlsFailedException;
import io.penstock.wire.transport.ConnectionLimits;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.Refusal;
import io.penstock.wire.transport.TransportFailure.RefusedPeerException;
import io.penstock.wire.transport.frame.SendQueue;
import io.rsocket.DuplexConnection;
import io.rsocket.exceptions.RejectedSetupException;
import io.rsocket.frame.ErrorFrameCodec;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// Start of TLS on a connection, and the meaning of its failures.
///
/// At a server the handshake is a part of the time to SETUP, and its connection a newcomer.
final class TlsStart {
  static final String HANDLER = "penstock.tls";
  private static final String WITHOUT_TLS = "connection must begin with TLS (began without)";
  private static final String WITH_TLS =
      "connection must begin without TLS, for the node has no certificate (was TLS)";
  /// The type of the record that begins a handshake, and the first byte of every version.
  private static final int HELLO = 0x1603;

  private static final Pattern BORING_SSL = Pattern.compile("error:[0-9a-f]+:SSL routines:[^:]*:([A-Z0-9_]+)");

  private TlsStart() {}

  /// A connection that a server accepted.
  static void accept(Channel channel, TcpConnection connection, @Nullable ServerTls tls) {
    if (tls == null) {
      channel.pipeline().addBefore(TcpConnection.HANDLER, HANDLER, new FirstBytes(connection));
      return;
    }
    SslHandler handler = tls.handler(channel.alloc());
    handler.handshakeFuture().addListener(done -> {
      if (!done.isSuccess()) {
        refused(channel, handler, connection, done.cause());
      }
    });
    begin(channel, handler);
  }

  /// The handler closes the channel when the peer has its error.
  private static void refused(Channel channel, SslHandler handler, TcpConnection connection, Throwable cause) {
    if (cause instanceof NotSslRecordException) {
      tellPlain(channel, handler);
      connection.endsBy(new RefusedPeerException(Refusal.TLS, WITHOUT_TLS));
    } else if (isClosed(cause)) {
      connection.endsBy(new IOException("closed in the handshake of TLS", cause));
    } else {
      connection.endsBy(new RefusedPeerException(Refusal.TLS,
          "handshake of TLS must succeed (failed: " + words(cause) + ")"));
    }
  }

  /// So that a client of RSocket without TLS reads why.
  private static void tellPlain(Channel channel, SslHandler handler) {
    ChannelHandlerContext below = channel.pipeline().context(handler);
    if (below != null) {
      ByteBuf error = ErrorFrameCodec.encode(channel.alloc(), 0, new RejectedSetupException(WITHOUT_TLS));
      ByteBuf header = channel.alloc().directBuffer(SendQueue.HEADER_BYTES).writeMedium(error.readableBytes());
      ChannelFuture unusedHeader = below.write(header, below.voidPromise());
      ChannelFuture unusedError = below.writeAndFlush(error, below.voidPromise());
    }
  }

  /// A connection that a client made.
  ///
  /// @return completes when the handshake has succeeded; signals [TlsFailedException]
  static Mono<DuplexConnection> connect(Channel channel, TcpConnection connection, InetSocketAddress remote,
      Duration handshake, ClientTls tls) {
    String host = InternetAddress.withoutLink(InternetAddress.host(remote)); // certificates name no link
    SslHandler handler = tls.handler(channel.alloc(), host, remote.getPort(), handshake);
    String node = Endpoint.place(remote);
    return Mono.<DuplexConnection>create(sink -> {
      handler.handshakeFuture().addListener((Future<Channel> done) -> {
        if (done.isSuccess()) {
          sink.success(connection);
        } else {
          Throwable failure = failure(node, done.cause());
          connection.endsBy(failure);
          sink.error(failure);
        }
      });
      begin(channel, handler);
    }).doOnCancel(connection::dispose);
  }

  private static void begin(Channel channel, SslHandler handler) {
    channel.pipeline().addBefore(TcpConnection.HANDLER, HANDLER, handler);
    channel.read();
  }

  private static Throwable failure(String node, Throwable cause) {
    if (isClosed(cause)) {
      return new IOException("closed in the handshake of TLS", cause);
    }
    return new TlsFailedException(switch (cause) {
      case NotSslRecordException e -> "node at " + node + " must speak TLS (answered without)";
      case SslHandshakeTimeoutException e -> "node at " + node + " did not answer the handshake of TLS in "
          + "time";
      default -> "node at " + node + " must have a certificate that is trusted (" + words(cause) + ")";
    }, cause);
  }

  private static boolean isClosed(Throwable cause) {
    return cause instanceof ClosedChannelException || cause.getCause() instanceof ClosedChannelException
        || (cause instanceof IOException && !(cause instanceof SSLException))
        || String.valueOf(cause.getMessage()).startsWith("Connection closed while SSL/TLS handshake");
  }

  /// Fault of the certificate, if the handshake failed because of it.
  private static String words(Throwable cause) {
    for (Throwable each = cause; each != null; each = each.getCause()) {
      if (each instanceof CertificateException) {
        return String.valueOf(each.getMessage());
      }
    }
    String message = String.valueOf(cause.getMessage());
    Matcher coded = BORING_SSL.matcher(message);
    return coded.matches() ? coded.group(1).toLowerCase(Locale.ROOT).replace('_', ' ') : message;
  }

  /// Cause of the end of a connection, without the wrapping of decoders.
  static Throwable plain(Throwable thrown) {
    return thrown instanceof DecoderException && thrown.getCause() instanceof SSLException tls ? tls : thrown;
  }

  /// Closes `channel` without waiting for a handshake that has not ended.
  static ChannelFuture close(Channel channel) {
    SslHandler tls = channel.pipeline().get(SslHandler.class);
    ChannelHandlerContext below =
        tls == null || tls.handshakeFuture().isDone() ? null : channel.pipeline().context(tls);
    return below == null ? channel.close() : below.close();
  }

  /// Announces the end of output to the other side, if the connection has TLS.
  static void endOutput(Channel channel) {
    SslHandler tls = channel.pipeline().get(SslHandler.class);
    if (tls != null) {
      Future<Void> unused = tls.closeOutbound();
    }
  }

  /// Handler of a connection without TLS: refuses a hello of TLS by name.
  private static final class FirstBytes extends ChannelInboundHandlerAdapter {
    private final TcpConnection connection;

    private FirstBytes(TcpConnection connection) {
      this.connection = connection;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      context.pipeline().remove(this);
      if (message instanceof ByteBuf in && in.readableBytes() > 1 && in.getUnsignedShort(in.readerIndex()) == HELLO) {
        in.release();
        connection.fail(new RefusedPeerException(Refusal.TLS, WITH_TLS));
        connection.closeAtOnce();
      } else {
        context.fireChannelRead(message);
      }
    }
  }

  /// Bytes from the socket are no frame yet, so they cannot be read into one.
  static RecvByteBufAllocator buffers(ConnectionLimits limits) {
    return new AdaptiveRecvByteBufAllocator(limits.minReceiveBytes(), limits.minReceiveBytes(),
        limits.maxReceiveBytes());
  }
}
