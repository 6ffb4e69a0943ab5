package io.penstock.wire.transport;

import io.rsocket.Closeable;
import io.rsocket.exceptions.RejectedSetupException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;

/// A bound server: disposing it stops listening and closes, in order, every connection it accepted.
///
/// `onClose` completes when the socket and all of them are closed.
public final class TcpListener implements Closeable {
  private final DisposableServer server;
  private final Accepted accepted;

  TcpListener(DisposableServer server, Accepted accepted) {
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
    return accepted.open.size();
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

  /// The connections of one listener. A refused connection never occupies a slot, however long it takes to close.
  static final class Accepted {
    private final int maxConnections;
    private final Semaphore slots;
    private final AtomicLong next = new AtomicLong();
    private final ConcurrentHashMap<Long, TcpConnection> open = new ConcurrentHashMap<>();
    private volatile boolean closing;

    Accepted(int maxConnections) {
      this.maxConnections = maxConnections;
      this.slots = new Semaphore(maxConnections);
    }

    /// True if `connection` may stay; else it was told why not and is closing. Any thread: each event loop accepts.
    boolean admit(TcpConnection connection) {
      boolean stays = slots.tryAcquire();
      long number = next.getAndIncrement();
      open.put(number, connection);
      connection.gone().subscribe(nothing -> {}, failed -> {}, () -> leave(number, stays));
      if (!stays) {
        connection.sendErrorAndClose(
            new RejectedSetupException(
                "connections must be <= " + maxConnections + " (was " + (maxConnections + 1) + ")"));
      } else if (closing) {
        connection.dispose();
      }
      return stays;
    }

    /// The slot goes first: a client that sees one connection less may open another.
    private void leave(long number, boolean stayed) {
      if (stayed) {
        slots.release();
      }
      open.remove(number);
    }

    void disposeAll() {
      closing = true;
      open.values().forEach(TcpConnection::dispose);
    }

    Mono<Void> onClose() {
      return Flux.fromIterable(open.values()).flatMap(TcpConnection::gone, Integer.MAX_VALUE, 1).then();
    }
  }
}
