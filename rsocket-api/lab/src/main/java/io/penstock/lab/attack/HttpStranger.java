package io.penstock.lab.attack;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A connection that sends some text and reads the first line of the answer.
final class HttpStranger extends SimpleChannelInboundHandler<ByteBuf> {
  private final String request;
  private final Consumer<String> answered;
  private @Nullable ChannelHandlerContext context;
  private boolean read;

  /// @param request sent as it is
  /// @param answered receives the first line of the answer
  HttpStranger(String request, Consumer<String> answered) {
    this.request = request;
    this.answered = answered;
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    this.context = context;
    say(request);
  }

  /// Sends more text, if the connection is open.
  void say(String text) {
    if (context != null && context.channel().isActive()) {
      ChannelFuture unused =
          context.writeAndFlush(Unpooled.copiedBuffer(text, StandardCharsets.ISO_8859_1), context.voidPromise());
    }
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, ByteBuf bytes) {
    if (!read) {
      read = true;
      answered.accept(bytes.toString(StandardCharsets.ISO_8859_1).lines().findFirst().orElse(""));
    }
  }

  /// The node ended the connection, which is its right.
  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    ChannelFuture unused = context.close();
  }
}
