package io.penstock.wire.transport.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpResponseDecoder;
import io.penstock.wire.transport.HttpHead;
import io.rsocket.DuplexConnection;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// The framing of WebSocket (RFC 6455): one binary message is one frame.
///
/// A client masks with a key of zeros, so that it sends memory which others still read without copying it. The key is
/// there to keep the pages of browsers from choosing the bytes that a proxy sees; this client is no browser.
final class WebSocketFraming implements Framing {
  private static final int BINARY_WHOLE = 0x82;
  private static final int FIN = 0x80;
  private static final int CLOSE = 8;
  private static final int MASKED = 0x80;
  private static final int LENGTH_16 = 126;
  private static final int LENGTH_64 = 127;
  private static final int MOST_SHORT = 125;
  private static final int MOST_16 = 0xFFFF;
  private static final int LONGEST_HEADER = 14;
  private static final short NORMAL_CLOSURE = 1000;
  private static final HttpDecoderConfig HTTP =
      new HttpDecoderConfig().setMaxInitialLineLength(1 << 10).setMaxHeaderSize(8 << 10).setChunkedSupported(false);

  private final @Nullable String host;
  private final Set<String> origins;

  private final Duration patience;

  private WebSocketFraming(@Nullable String host, Set<String> origins, Duration patience) {
    this.host = host;
    this.patience = patience;
    this.origins = origins;
  }

  /// Framing of a node.
  ///
  /// @param origins pages of browsers that may connect, `*` for any
  static Framing ofServer(Set<String> origins) {
    return new WebSocketFraming(null, Set.copyOf(origins), Duration.ZERO);
  }

  /// Framing of a client of the node at `host`.
  ///
  /// @param patience longest wait for the node's answer
  static Framing ofClient(String host, Duration patience) {
    return new WebSocketFraming(host, Set.of(), patience);
  }

  @Override
  public void writeHeader(ByteBuf to, int size) {
    header(to, BINARY_WHOLE, size, host != null);
  }

  private static ByteBuf header(ByteBuf to, int first, int size, boolean masked) {
    int mask = masked ? MASKED : 0;
    to.writeByte(first);
    if (size <= MOST_SHORT) {
      to.writeByte(mask | size);
    } else if (size <= MOST_16) {
      to.writeByte(mask | LENGTH_16).writeShort(size);
    } else {
      to.writeByte(mask | LENGTH_64).writeLong(size);
    }
    return masked ? to.writeInt(0) : to;
  }

  /// A control message that says what `said` has.
  static ByteBuf control(ByteBufAllocator alloc, int opcode, ByteBuf said, boolean masked) {
    ByteBuf message = alloc.directBuffer(LONGEST_HEADER + said.readableBytes());
    return header(message, FIN | opcode, said.readableBytes(), masked).writeBytes(said);
  }

  @Override
  public ByteBuf end(ByteBufAllocator alloc) {
    ByteBuf why = Unpooled.copyShort(NORMAL_CLOSURE);
    try {
      return control(alloc, CLOSE, why, host != null);
    } finally {
      why.release();
    }
  }

  @Override
  public Mono<DuplexConnection> install(ChannelPipeline pipeline, TcpConnection connection) {
    boolean isServer = host == null;
    pipeline.addBefore(TcpConnection.HANDLER, "penstock.websocket", new WebSocketFrames(connection, isServer));
    if (isServer) {
      HttpHead.Folds folds = new HttpHead.Folds();
      pipeline.addBefore("penstock.websocket", "penstock.upgrade", new WebSocketUpgrade(origins, connection, folds));
      pipeline.addBefore("penstock.upgrade", WebSocketUpgrade.HTTP, new HttpRequestDecoder(HTTP));
      pipeline.addBefore(WebSocketUpgrade.HTTP, "penstock.folds", folds);
      return Mono.just(connection);
    }
    WebSocketRequest request = new WebSocketRequest(String.valueOf(host), patience, connection);
    pipeline.addBefore("penstock.websocket", "penstock.upgrade", request);
    pipeline.addBefore("penstock.upgrade", WebSocketUpgrade.HTTP, new HttpResponseDecoder(HTTP));
    return request.upgraded();
  }
}
