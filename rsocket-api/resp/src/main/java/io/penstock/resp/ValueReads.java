package io.penstock.resp;

import io.netty.channel.AdaptiveRecvByteBufAllocator;

/// Buffers for what a socket has: short ones for requests, and longer ones while reads fill them.
final class ValueReads extends AdaptiveRecvByteBufAllocator {
  private static final int LEAST = 2 << 10;
  private static final int FIRST = 16 << 10;
  private static final int MOST = 256 << 10;

  ValueReads() {
    super(LEAST, FIRST, MOST);
  }
}
