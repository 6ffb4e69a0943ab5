package io.penstock.node.bench;

import io.netty.buffer.ByteBuf;
import io.penstock.wire.transport.CongestionControl;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.Histogram;
import reactor.netty.Connection;
import reactor.netty.resources.LoopResources;

/// Bytes over [RawStream]s; its units are bytes.
final class RawLoad implements Load {
  private final SocketAddress remote;
  private final CongestionControl congestion;
  private final LoopResources loops;
  private final ByteBuf memory;
  private final int payloadBytes;
  private final int connections;
  private final boolean receives;

  /// @param memory that payloads are sent from
  /// @param receives whether the far side sends
  RawLoad(SocketAddress remote, CongestionControl congestion, LoopResources loops, ByteBuf memory, int payloadBytes,
      int connections, boolean receives) {
    this.remote = remote;
    this.congestion = congestion;
    this.loops = loops;
    this.memory = memory;
    this.payloadBytes = payloadBytes;
    this.connections = connections;
    this.receives = receives;
  }

  @Override
  public Done run(long nanos) {
    LongAdder moved = new LongAdder();
    List<Connection> open = new ArrayList<>();
    long began = System.nanoTime();
    try {
      for (int i = 0; i < connections; i++) {
        Connection connection = BenchTransport.rawClient(remote, congestion, loops).connectNow();
        open.add(connection);
        if (receives) {
          RawStream.receive(connection, payloadBytes, moved);
        } else {
          RawStream.send(connection, memory, payloadBytes, moved);
        }
      }
      pause(nanos);
      return new Done(moved.sum(), System.nanoTime() - began, new Histogram(1));
    } finally {
      open.forEach(Connection::disposeNow);
    }
  }

  private static void pause(long nanos) {
    try {
      Thread.sleep(nanos / 1_000_000, (int) (nanos % 1_000_000));
    } catch (InterruptedException e) {
      throw new IllegalStateException("a benchmark must not be interrupted", e);
    }
  }

  @Override
  public void close() {
    // each run has connections of its own
  }
}
