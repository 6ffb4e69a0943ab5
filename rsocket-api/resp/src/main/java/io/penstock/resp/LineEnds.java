package io.penstock.resp;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/// Lets the lines of people end in LF alone, as in `echo PING | nc 127.0.0.1 6379`, and have any bytes. It looks at
/// what comes until the first request that is an array, and leaves the connection then. One for each connection.
///
/// The decoder reads a line as UTF-8. So each byte goes on as the UTF-8 of the character of its number, from which
/// [RespConnection] takes it back. A byte beyond ASCII counts twice among the bytes that a line may have.
final class LineEnds extends ChannelInboundHandlerAdapter {
  private byte last = '\n';

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    ByteBuf bytes = (ByteBuf) message;
    int lines = lineBytes(bytes);
    if (lines > 0) {
      context.fireChannelRead(ended(context, bytes, lines));
    }
    if (bytes.isReadable()) {
      context.fireChannelRead(bytes);
      context.pipeline().remove(this);
    } else {
      bytes.release();
    }
  }

  /// Bytes before the first array.
  private int lineBytes(ByteBuf bytes) {
    byte before = last;
    for (int i = bytes.readerIndex(); i < bytes.writerIndex(); i++) {
      byte now = bytes.getByte(i);
      if (before == '\n' && now == '*') {
        return i - bytes.readerIndex();
      }
      before = now;
    }
    return bytes.readableBytes();
  }

  private ByteBuf ended(ChannelHandlerContext context, ByteBuf bytes, int count) {
    ByteBuf lines = context.alloc().buffer(2 * count);
    for (int i = 0; i < count; i++) {
      byte now = bytes.readByte();
      if (now == '\n' && last != '\r') {
        lines.writeByte('\r');
      }
      if (now >= 0) {
        lines.writeByte(now);
      } else {
        lines.writeByte(0xC0 | ((now & 0xFF) >> 6));
        lines.writeByte(0x80 | (now & 0x3F));
      }
      last = now;
    }
    return lines;
  }
}
