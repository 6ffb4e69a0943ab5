package io.penstock.wire;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.rsocket.DuplexConnection;
import io.rsocket.RSocketErrorException;
import io.rsocket.transport.ClientTransport;
import java.net.SocketAddress;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// The frames that a client sent over one connection, in order.
final class RecordedSession {
  private final List<byte[]> frames = new CopyOnWriteArrayList<>();

  List<byte[]> frames() {
    return frames;
  }

  /// `transport`, whose connection is recorded.
  ClientTransport recording(ClientTransport transport) {
    return () -> transport.connect().map(Tap::new);
  }

  private final class Tap implements DuplexConnection {
    private final DuplexConnection to;

    Tap(DuplexConnection to) {
      this.to = requireNonNull(to, "to");
    }

    @Override
    public void sendFrame(int streamId, ByteBuf frame) {
      frames.add(ByteBufUtil.getBytes(frame));
      to.sendFrame(streamId, frame);
    }

    @Override
    public void sendErrorAndClose(RSocketErrorException error) {
      to.sendErrorAndClose(error);
    }

    @Override
    public Flux<ByteBuf> receive() {
      return to.receive();
    }

    @Override
    public ByteBufAllocator alloc() {
      return to.alloc();
    }

    @Override
    public SocketAddress remoteAddress() {
      return to.remoteAddress();
    }

    @Override
    public Mono<Void> onClose() {
      return to.onClose();
    }

    @Override
    public void dispose() {
      to.dispose();
    }

    @Override
    public boolean isDisposed() {
      return to.isDisposed();
    }
  }
}
