package io.penstock.wire.transport.tcp;

import static java.util.Objects.requireNonNull;

import io.penstock.wire.transport.ConnectionListener;
import io.penstock.wire.transport.Endpoint;
import io.rsocket.transport.ServerTransport;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.netty.Connection;
import reactor.netty.DisposableServer;

/// A socket that is bound and accepts nothing yet: a client that connects waits in its backlog until [#start]. So a
/// program has its ports for certain before it does anything else, and no other can take them in between.
public final class BoundTransport implements ServerTransport<TcpListener> {
  private final TcpServerOptions options;
  private final ServerBounds bounds;
  private final AtomicReference<@Nullable ConnectionAcceptor> acceptor = new AtomicReference<>();
  private @Nullable DisposableServer server;
  private @Nullable Endpoint endpoint;
  private Runnable released = () -> {};

  BoundTransport(TcpServerOptions options, ServerBounds bounds) {
    this.options = options;
    this.bounds = bounds;
  }

  /// @param released run when the socket is closed
  BoundTransport at(DisposableServer bound, Endpoint place, Runnable released) {
    this.server = bound;
    this.endpoint = place;
    this.released = released;
    return this;
  }

  /// Accepts a connection; only after [#start].
  void accept(Connection connection, Framing framing, ConnectionListener listener) {
    ConnectionAcceptor to = acceptor.get();
    if (to == null) {
      connection.dispose();
      return;
    }
    TcpConnection opened = TcpConnection.accept(connection, framing, options, listener, bounds.shared());
    framing.install(connection.channel().pipeline(), opened).subscribe();
    to.apply(opened).subscribe(nothing -> {}, failed -> opened.dispose());
  }

  /// Endpoint for clients, with the port that was found.
  public Endpoint endpoint() {
    return requireNonNull(endpoint, "a socket that is bound");
  }

  /// Bounds of its connections.
  public ServerBounds bounds() {
    return bounds;
  }

  /// Accepts from now on, those first who waited; once.
  @Override
  public Mono<TcpListener> start(ConnectionAcceptor acceptor) {
    requireNonNull(acceptor, "acceptor");
    return Mono.fromCallable(() -> {
      if (!this.acceptor.compareAndSet(null, acceptor)) {
        throw new IllegalStateException("socket must be started once (was twice)");
      }
      DisposableServer bound = requireNonNull(server, "a socket that is bound");
      bound.channel().config().setAutoRead(true);
      return new TcpListener(bound, endpoint(), bounds, released);
    });
  }

  @Override
  public int maxFrameLength() {
    return options.limits().maxFrameBytes();
  }

  /// Stops listening; connections that were accepted stay. Lazy and idempotent.
  public Mono<Void> close() {
    return Mono.defer(() -> {
      DisposableServer bound = requireNonNull(server, "a socket that is bound");
      bound.dispose();
      released.run();
      return bound.onDispose();
    });
  }
}
