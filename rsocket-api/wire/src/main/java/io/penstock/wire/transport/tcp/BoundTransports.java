package io.penstock.wire.transport.tcp;

import io.rsocket.Closeable;
import io.rsocket.transport.ServerTransport;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// The sockets of one server, on as many transports as it has, as one transport. They share one [ServerBounds].
public final class BoundTransports implements ServerTransport<BoundTransports.Listening> {
  private final List<BoundTransport> sockets;

  private BoundTransports(List<BoundTransport> sockets) {
    this.sockets = sockets;
  }

  /// @throws IllegalArgumentException if there are none
  public static BoundTransports of(List<BoundTransport> sockets) {
    if (sockets.isEmpty()) {
      throw new IllegalArgumentException("sockets must not be empty");
    }
    return new BoundTransports(List.copyOf(sockets));
  }

  /// The sockets that accept.
  public static final class Listening implements Closeable {
    private final List<TcpListener> listeners;

    private Listening(List<TcpListener> listeners) {
      this.listeners = listeners;
    }

    /// Listeners in the order in which they were given.
    public List<TcpListener> listeners() {
      return listeners;
    }

    /// Connections open now, over all transports.
    public int connections() {
      return listeners.getFirst().connections();
    }

    /// Room that unfinished frames have taken, over all connections.
    public long frameBytes() {
      return listeners.getFirst().frameBytes();
    }

    @Override
    public void dispose() {
      listeners.forEach(TcpListener::dispose);
    }

    @Override
    public boolean isDisposed() {
      return listeners.stream().allMatch(TcpListener::isDisposed);
    }

    @Override
    public Mono<Void> onClose() {
      return Flux.fromIterable(listeners).flatMap(TcpListener::onClose, listeners.size(), 1).then();
    }
  }

  @Override
  public Mono<Listening> start(ConnectionAcceptor acceptor) {
    return Flux.fromIterable(sockets).concatMap(socket -> socket.start(acceptor)).collectList()
        .map(started -> new Listening(List.copyOf(started)));
  }

  @Override
  public int maxFrameLength() {
    return sockets.stream().mapToInt(BoundTransport::maxFrameLength).min().orElseThrow();
  }
}
