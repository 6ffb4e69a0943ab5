package io.penstock.lab.bench.side;

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
  private final boolean sends;

  /// @param memory that payloads are sent from
  /// @param receives whether the far side sends
  /// @param sends whether this side does; each way has connections of its own
  RawLoad(SocketAddress remote, CongestionControl congestion, LoopResources loops, ByteBuf memory, int payloadBytes,
      int connections, boolean receives, boolean sends) {
    this.remote = remote;
    this.congestion = congestion;
    this.loops = loops;
    this.memory = memory;
    this.payloadBytes = payloadBytes;
    this.connections = connections;
    this.receives = receives;
    this.sends = sends;
  }

  @Override
  public Done run(long nanos) {
    LongAdder moved = new LongAdder();
    List<Connection> open = new ArrayList<>();
    long began = System.nanoTime();
    try {
      for (int i = 0; i < connections; i++) {
        if (receives) {
          RawStream.receive(connected(open), payloadBytes, moved);
        }
        if (sends) {
          RawStream.send(connected(open), memory, payloadBytes, moved);
        }
      }
      pause(nanos);
      return new Done(moved.sum(), System.nanoTime() - began, new Histogram(1));
    } finally {
      open.forEach(Connection::disposeNow);
    }
  }

  private Connection connected(List<Connection> open) {
    Connection connection = BenchTransport.rawClient(remote, congestion, loops).connectNow();
    open.add(connection);
    return connection;
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
