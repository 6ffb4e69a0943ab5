package io.penstock.wire.transport.tcp;

import io.penstock.wire.transport.Endpoint;
import io.rsocket.Closeable;
import java.net.SocketAddress;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;

/// A server that accepts: disposing it stops listening and closes, in order, every connection it accepted.
///
/// `onClose` completes when the socket and all of them are closed.
public final class TcpListener implements Closeable {
  private final DisposableServer server;
  private final Endpoint endpoint;
  private final ServerBounds bounds;
  private final Runnable released;

  /// @param released run when it stops listening
  TcpListener(DisposableServer server, Endpoint endpoint, ServerBounds bounds, Runnable released) {
    this.server = server;
    this.endpoint = endpoint;
    this.bounds = bounds;
    this.released = released;
  }

  /// Endpoint of the listener, with its transport.
  public Endpoint endpoint() {
    return endpoint;
  }

  /// Address of the listener.
  public SocketAddress address() {
    return endpoint.address();
  }

  /// Port it listens on.
  ///
  /// @throws IllegalStateException for a Unix domain socket
  public int port() {
    return endpoint.port();
  }

  /// Connections open now, together with those of other transports that share its bounds.
  public int connections() {
    return bounds.connections();
  }

  /// Room that unfinished frames have taken, over all connections.
  public long frameBytes() {
    return bounds.frameBytes();
  }

  @Override
  public void dispose() {
    server.dispose();
    released.run();
    bounds.shared().accepted().disposeAll();
  }

  @Override
  public boolean isDisposed() {
    return server.isDisposed();
  }

  @Override
  public Mono<Void> onClose() {
    return server.onDispose().then(Mono.defer(bounds.shared().accepted()::onClose));
  }
}
