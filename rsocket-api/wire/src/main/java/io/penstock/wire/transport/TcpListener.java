package io.penstock.wire.transport;

import io.rsocket.Closeable;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;

/// A bound server: disposing it stops listening and closes, in order, every connection it accepted.
///
/// `onClose` completes when the socket and all of them are closed.
public final class TcpListener implements Closeable {
  private final DisposableServer server;
  private final AcceptedConnections accepted;
  private final FrameRoom room;

  TcpListener(DisposableServer server, IncomingFrames.Server shared) {
    this.server = server;
    this.accepted = shared.accepted();
    this.room = shared.room();
  }

  /// Where it listens.
  public SocketAddress address() {
    return server.channel().localAddress();
  }

  /// Port it listens on.
  ///
  /// @throws IllegalStateException for a Unix domain socket
  public int port() {
    if (address() instanceof InetSocketAddress internet) {
      return internet.getPort();
    }
    throw new IllegalStateException("address must be an internet address to have a port (was " + address() + ")");
  }

  /// Connections open now.
  public int connections() {
    return accepted.count();
  }

  /// Room that unfinished frames have taken, over all connections.
  public long frameBytes() {
    return room.taken();
  }

  @Override
  public void dispose() {
    server.dispose();
    accepted.disposeAll();
  }

  @Override
  public boolean isDisposed() {
    return server.isDisposed();
  }

  @Override
  public Mono<Void> onClose() {
    return server.onDispose().then(Mono.defer(accepted::onClose));
  }
}
