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

  TcpListener(DisposableServer server, AcceptedConnections accepted) {
    this.server = server;
    this.accepted = accepted;
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
