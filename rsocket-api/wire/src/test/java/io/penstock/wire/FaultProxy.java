package io.penstock.wire;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/// Passes connections on to a node, and does to each what its plan says. What was begun stays as it is until the proxy
/// is closed: no end of a connection learns from the proxy's own end that the other one is gone.
final class FaultProxy implements AutoCloseable {
  private final LinkEnds ends;
  private final int target;
  private final List<FaultPlan> plans;
  private final boolean reconnects;
  private final ServerSocketChannel listening;
  private final int port;
  private final List<FaultedConnection> connections = new ArrayList<>();
  private final CountDownLatch overtaken = new CountDownLatch(1);
  private boolean closed;

  /// @param target number of the node's place
  /// @param plans of the first connections; nothing happens to later ones
  /// @param reconnects whether the client opens a connection anew: then one that is reordered ends for its client
  FaultProxy(LinkEnds ends, int target, List<FaultPlan> plans, boolean reconnects) {
    this.ends = ends;
    this.target = target;
    this.plans = plans;
    this.reconnects = reconnects;
    try {
      this.listening = opened(ends);
      this.port = ends.port(listening.getLocalAddress());
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    Thread.ofVirtual().start(this::accept);
  }

  private static ServerSocketChannel opened(LinkEnds ends) throws IOException {
    var address = ends.free();
    return (address instanceof UnixDomainSocketAddress
        ? ServerSocketChannel.open(StandardProtocolFamily.UNIX)
        : ServerSocketChannel.open()).bind(address, 8);
  }

  int port() {
    return port;
  }

  /// Bytes that all connections have carried.
  synchronized long moved() {
    return connections.stream().mapToLong(FaultedConnection::moved).sum() + connections.size();
  }

  /// The plans whose byte has come.
  synchronized List<FaultPlan> fired() {
    return connections.stream().filter(FaultedConnection::fired).map(FaultedConnection::plan).toList();
  }

  /// What waits for a later connection goes on.
  void overtake() {
    overtaken.countDown();
  }

  /// A later connection has carried `bytes` to the client.
  private synchronized void carried(FaultedConnection by, long bytes) {
    for (FaultedConnection one : connections) {
      if (one.equals(by)) {
        return;
      }
      if (one.fired() && bytes > 100L * one.plan().amount()) {
        one.overtake();
      }
    }
  }

  private void accept() {
    try {
      while (true) {
        SocketChannel client = listening.accept();
        connect(client);
      }
    } catch (IOException _) {
      // closed
    }
  }

  private void connect(SocketChannel client) throws IOException {
    SocketChannel server;
    try {
      server = SocketChannel.open(ends.address(target));
    } catch (IOException _) {
      client.close(); // the node does not listen
      return;
    }
    synchronized (this) {
      FaultPlan plan = connections.size() < plans.size() ? plans.get(connections.size()) : FaultPlan.NONE;
      FaultedConnection connection =
          new FaultedConnection(plan, client, server, overtaken, reconnects, this::carried);
      connections.add(connection);
      if (closed) {
        connection.close();
      } else {
        connection.start();
      }
    }
  }

  @Override
  public void close() {
    overtake();
    try {
      var address = listening.getLocalAddress();
      listening.close();
      if (address instanceof UnixDomainSocketAddress unix) {
        Files.deleteIfExists(unix.getPath());
      }
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    synchronized (this) {
      closed = true;
      connections.forEach(FaultedConnection::close);
    }
  }
}
