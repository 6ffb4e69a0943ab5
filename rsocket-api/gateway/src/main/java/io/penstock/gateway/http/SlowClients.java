package io.penstock.gateway.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.concurrent.Future;
import java.nio.CharBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.netty.NettyPipeline;

/// Closes connections whose client is too slow: it does not send the head of a request within a time, counted from the
/// connection or from the head's first byte; it does not send the body within twice that time, also where no
/// [Reading] refuses it earlier; or it takes nothing of an answer for a time. All runs in the event loop of the
/// connection.
final class SlowClients extends ChannelInboundHandlerAdapter {
  private static final String LATE = "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

  private final Duration head;
  private final Duration send;
  private boolean isInRequest;
  private boolean hasBytes;
  /// Requests that came whole and are not answered as a whole.
  private int answering;
  /// Bytes that the client had not taken when it was looked at last.
  private long left;
  private @Nullable Future<?> waitsForRequest;
  private @Nullable Future<?> waitsForReader;

  private SlowClients(Duration head, Duration send) {
    this.head = head;
    this.send = send;
  }

  /// Watches a connection.
  ///
  /// @param head longest time of a request's head
  /// @param send longest time in which the client takes nothing of an answer that is larger than the buffers
  static void watch(Channel channel, Duration head, Duration send) {
    SlowClients bytes = new SlowClients(head, send);
    channel.pipeline().addBefore(NettyPipeline.HttpCodec, "penstock.slowClients", bytes)
        .addAfter(NettyPipeline.HttpCodec, "penstock.requests", bytes.new Requests());
  }

  /// Sees requests and answers where they are messages.
  private final class Requests extends ChannelDuplexHandler {
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      if (message instanceof HttpRequest) {
        isInRequest = true;
        waitsForRequest = ended(waitsForRequest);
        waitsForRequest = context.executor().schedule(() -> end(context), 2 * head.toNanos(), TimeUnit.NANOSECONDS);
      }
      if (message instanceof LastHttpContent) {
        isInRequest = false;
        hasBytes = false;
        answering++;
        waitsForRequest = ended(waitsForRequest);
      }
      context.fireChannelRead(message);
    }

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
      boolean isInterim =
          message instanceof HttpResponse response && response.status().codeClass() == HttpStatusClass.INFORMATIONAL;
      if (message instanceof LastHttpContent && !isInterim) {
        answering--;
        if (answering <= 0 && hasBytes && !isInRequest) { // of the next request
          waitForHead(context);
        }
      }
      var _ = context.write(message, promise);
    }
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    waitForHead(context);
    context.fireChannelActive();
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (!isInRequest && !isBlank(message)) {
      hasBytes = true;
      if (answering <= 0) {
        waitForHead(context);
      }
    }
    context.fireChannelRead(message);
  }

  /// Ends of lines, which some clients send behind a body, begin no request.
  private static boolean isBlank(Object message) {
    return message instanceof ByteBuf bytes
        && bytes.forEachByte(each -> each == '\r' || each == '\n') < 0;
  }

  private void waitForHead(ChannelHandlerContext context) {
    if (waitsForRequest == null) {
      waitsForRequest = context.executor().schedule(() -> late(context), head.toNanos(), TimeUnit.NANOSECONDS);
    }
  }

  private void late(ChannelHandlerContext context) {
    if (hasBytes) {
      ByteBuf answer = ByteBufUtil.encodeString(context.alloc(), CharBuffer.wrap(LATE),
          StandardCharsets.US_ASCII);
      context.writeAndFlush(answer).addListener(ChannelFutureListener.CLOSE);
    } else {
      end(context);
    }
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    if (context.channel().isWritable()) {
      waitsForReader = ended(waitsForReader);
    } else if (waitsForReader == null) {
      waitForReader(context);
    }
    context.fireChannelWritabilityChanged();
  }

  private void waitForReader(ChannelHandlerContext context) {
    left = left(context);
    waitsForReader = context.executor().schedule(() -> {
      waitsForReader = null;
      if (left(context) >= left) {
        end(context);
      } else {
        waitForReader(context);
      }
    }, send.toNanos(), TimeUnit.NANOSECONDS);
  }

  /// Bytes that the client has not taken: a large buffer is taken in parts.
  private static long left(ChannelHandlerContext context) {
    ChannelOutboundBuffer out = context.channel().unsafe().outboundBuffer();
    return out == null ? 0 : out.totalPendingWriteBytes() - out.currentProgress();
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    waitsForRequest = ended(waitsForRequest);
    waitsForReader = ended(waitsForReader);
    context.fireChannelInactive();
  }

  private static void end(ChannelHandlerContext context) {
    var _ = context.close();
  }

  private static @Nullable Future<?> ended(@Nullable Future<?> wait) {
    if (wait != null) {
      wait.cancel(false);
    }
    return null;
  }
}
