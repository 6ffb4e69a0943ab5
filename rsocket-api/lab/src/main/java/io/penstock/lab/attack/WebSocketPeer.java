package io.penstock.lab.attack;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolConfig;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolHandler;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolHandler.ClientHandshakeStateEvent;
import io.netty.util.ReferenceCountUtil;
import io.penstock.wire.transport.Endpoint;
import java.net.URI;

/// A peer behind a WebSocket: whatever it writes is the payload of one binary frame.
final class WebSocketPeer extends ChannelDuplexHandler {
  private static final int LONGEST_ANSWER = 1 << 16;

  private final Peer peer;

  private WebSocketPeer(Peer peer) {
    this.peer = peer;
  }

  static void addTo(ChannelPipeline pipeline, Endpoint way, int longestFrame, Peer peer) {
    WebSocketClientProtocolConfig config = WebSocketClientProtocolConfig.newBuilder()
        .webSocketUri(URI.create(way.toString())).maxFramePayloadLength(longestFrame).build();
    pipeline.addLast(new HttpClientCodec()).addLast(new HttpObjectAggregator(LONGEST_ANSWER))
        .addLast(new WebSocketClientProtocolHandler(config)).addLast(new WebSocketPeer(peer));
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (event == ClientHandshakeStateEvent.HANDSHAKE_COMPLETE) {
      peer.opened(context.channel(), false);
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    try {
      if (message instanceof BinaryWebSocketFrame frame) {
        peer.received(frame.content());
      }
    } finally {
      ReferenceCountUtil.release(message);
    }
  }

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    ChannelFuture unused =
        context.write(message instanceof ByteBuf bytes ? new BinaryWebSocketFrame(bytes) : message, promise);
  }

  /// The node ended the connection, which is its right.
  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    ChannelFuture unused = context.close();
  }
}
