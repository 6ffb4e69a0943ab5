package io.penstock.s3.serve;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GenericFutureListener;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Cuts off a client that takes no byte of what was written for a while, whether or not its request is answered: what
/// waits for it keeps memory of the node. Stands next to the socket; in the event loop of the channel.
final class WriteStall extends ChannelOutboundHandlerAdapter {
  private final long stallNanos;
  private final GenericFutureListener<ChannelFuture> taken = this::taken;
  private long waiting;
  private long done;
  private @Nullable Future<?> timer;

  WriteStall(long stallNanos) {
    this.stallNanos = stallNanos;
  }

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    waiting++;
    var _ = context.write(message, promise.unvoid().addListener(taken));
    if (timer == null && context.channel().isActive()) {
      watch(context);
    }
  }

  private void taken(ChannelFuture written) {
    waiting--;
    done++;
  }

  private void watch(ChannelHandlerContext context) {
    long before = done;
    long progress = progress(context);
    timer = context.executor().schedule(() -> {
      timer = null;
      if (waiting == 0 || !context.channel().isActive()) {
        return;
      }
      if (done == before && progress(context) == progress) {
        var _ = context.close();
      } else {
        watch(context);
      }
    }, stallNanos, TimeUnit.NANOSECONDS);
  }

  /// Bytes of the first message that waits which the socket took.
  private static long progress(ChannelHandlerContext context) {
    ChannelOutboundBuffer buffer = context.channel().unsafe().outboundBuffer();
    return buffer == null ? 0 : buffer.currentProgress();
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    Future<?> running = timer;
    if (running != null) {
      running.cancel(false);
      timer = null;
    }
  }
}
