package io.penstock.wire;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.rsocket.DuplexConnection;
import io.rsocket.RSocketErrorException;
import io.rsocket.exceptions.ConnectionErrorException;
import io.rsocket.exceptions.InvalidSetupException;
import io.rsocket.frame.FrameHeaderCodec;
import io.rsocket.frame.FrameType;
import io.rsocket.frame.SetupFrameCodec;
import io.rsocket.plugins.DuplexConnectionInterceptor;
import io.rsocket.plugins.InterceptorRegistry;
import java.net.SocketAddress;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SynchronousSink;

/// A connection whose peer must send each payload in one frame, as the protocol says. Fragments would be put together
/// by RSocket before anything of ours is asked, as many bytes a stream and as many streams as the peer likes; so the
/// first one ends the connection.
record WholeFrames(DuplexConnection connection) implements DuplexConnection {
  /// Has every connection that `registry` is for be such a one.
  static void require(InterceptorRegistry registry) {
    registry.forConnection((type,
        connection) -> type == DuplexConnectionInterceptor.Type.SOURCE ? new WholeFrames(connection) : connection);
  }

  @Override
  public Flux<ByteBuf> receive() {
    return connection.receive().handle(this::pass);
  }

  private void pass(ByteBuf frame, SynchronousSink<ByteBuf> next) {
    if (isFragment(frame)) {
      ConnectionErrorException refusal =
          new ConnectionErrorException("payloads must come in one frame each (was a fragment)");
      connection.sendErrorAndClose(refusal);
      next.error(refusal); // the rest of it must not be taken for a whole
    } else if (isCutSetup(frame)) { // which RSocket would never release
      connection.sendErrorAndClose(new InvalidSetupException("SETUP must be whole (was cut short)"));
    } else {
      next.next(frame);
    }
  }

  private static boolean isFragment(ByteBuf frame) {
    try {
      return FrameHeaderCodec.hasFollows(frame) && FrameHeaderCodec.nativeFrameType(frame).isFragmentable();
    } catch (RuntimeException e) { // no frame of RSocket's: its reader says so
      return false;
    }
  }

  private static boolean isCutSetup(ByteBuf frame) {
    try {
      return FrameHeaderCodec.nativeFrameType(frame) == FrameType.SETUP
          && SetupFrameCodec.dataMimeType(frame).isEmpty();
    } catch (IndexOutOfBoundsException e) {
      return true;
    } catch (RuntimeException e) { // no frame of RSocket's: its reader says so
      return false;
    }
  }

  @Override
  public void sendFrame(int streamId, ByteBuf frame) {
    connection.sendFrame(streamId, frame);
  }

  @Override
  public void sendErrorAndClose(RSocketErrorException error) {
    connection.sendErrorAndClose(error);
  }

  @Override
  public ByteBufAllocator alloc() {
    return connection.alloc();
  }

  @Override
  public SocketAddress remoteAddress() {
    return connection.remoteAddress();
  }

  @Override
  public Mono<Void> onClose() {
    return connection.onClose();
  }

  @Override
  public void dispose() {
    connection.dispose();
  }

  @Override
  public boolean isDisposed() {
    return connection.isDisposed();
  }

  @Override
  public double availability() {
    return connection.availability();
  }
}
