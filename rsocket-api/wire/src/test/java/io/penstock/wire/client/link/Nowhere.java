package io.penstock.wire.client.link;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.rsocket.DuplexConnection;
import io.rsocket.RSocketErrorException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// A connection to a peer that takes everything and says nothing.
public final class Nowhere implements DuplexConnection {
  @Override
  public void sendFrame(int streamId, ByteBuf frame) {
    frame.release();
  }

  @Override
  public void sendErrorAndClose(RSocketErrorException error) {}

  @Override
  public Flux<ByteBuf> receive() {
    return Flux.never();
  }

  @Override
  public ByteBufAllocator alloc() {
    return UnpooledByteBufAllocator.DEFAULT;
  }

  @Override
  public SocketAddress remoteAddress() {
    return InetSocketAddress.createUnresolved("nowhere", 1);
  }

  @Override
  public Mono<Void> onClose() {
    return Mono.never();
  }

  @Override
  public void dispose() {}
}
