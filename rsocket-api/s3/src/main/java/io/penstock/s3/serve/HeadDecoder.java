package io.penstock.s3.serve;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.LastHttpContent;
import java.util.List;

/// Decodes requests, and knows whether one has begun whose head is not whole. In the event loop of the channel.
final class HeadDecoder extends HttpRequestDecoder {
  private boolean isInBody;
  private boolean hasHalf;

  HeadDecoder(HttpDecoderConfig config) {
    super(config);
  }

  /// Whether a part of a head came, and the rest did not.
  boolean hasHalf() {
    return hasHalf;
  }

  @Override
  protected void decode(ChannelHandlerContext context, ByteBuf bytes, List<Object> out) throws Exception {
    int before = out.size();
    hasHalf |= !isInBody && bytes.isReadable();
    super.decode(context, bytes, out);
    for (int i = before; i < out.size(); i++) {
      Object piece = out.get(i);
      if (piece instanceof HttpRequest) {
        isInBody = true;
        hasHalf = false;
      }
      if (piece instanceof LastHttpContent) {
        isInBody = false;
      }
    }
  }
}
