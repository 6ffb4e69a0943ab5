package io.penstock.lab.bench.side;

import io.penstock.wire.transport.CongestionControl;
import io.penstock.wire.transport.SocketTuning;
import java.time.Duration;

/// Order of the near side of a bench to the far side.
///
/// @param verb what to do
/// @param transport of a listener
/// @param congestion of the sockets of a listener
/// @param blockBytes of the blocks of a node
/// @param layers of a block
/// @param blocks that a node keeps
/// @param filled whether it has them all from the start
/// @param memory of segments
record FarOrder(Verb verb, BenchTransport transport, CongestionControl congestion, int blockBytes, int layers,
    int blocks, boolean filled, MemoryKind memory) {
  enum Verb {
    /// Serve blocks.
    NODE,
    /// Serve segments, see [BenchSegments].
    SEGMENTS,
    /// Listen without RSocket, see [RawStream].
    RAW,
    /// Answer bytes, see [FarSide], on threads that sleep between two requests.
    PLAIN,
    /// Answer bytes on threads that stay awake for a moment, as those of a node do.
    PLAIN_AWAKE,
    /// Report the CPU time of the process.
    CPU,
    /// End the work that earlier orders began.
    END
  }

  static FarOrder of(Verb verb) {
    return new FarOrder(verb, BenchTransport.TCP, CongestionControl.AUTOMATIC, 0, 0, 0, false, MemoryKind.HOST);
  }

  static FarOrder listen(Verb verb, BenchTransport transport, CongestionControl congestion) {
    return new FarOrder(verb, transport, congestion, 0, 0, 0, false, MemoryKind.HOST);
  }

  static FarOrder segments(BenchTransport transport, CongestionControl congestion, MemoryKind memory) {
    return new FarOrder(Verb.SEGMENTS, transport, congestion, 0, 0, 0, false, memory);
  }

  /// How the sockets of a listener are used.
  SocketTuning tuning() {
    return tuning(verb, congestion);
  }

  /// How the sockets of a listener, and of its clients, are used.
  static SocketTuning tuning(Verb verb, CongestionControl congestion) {
    SocketTuning tuning = SocketTuning.defaults().withCongestion(congestion);
    return verb == Verb.PLAIN ? tuning.withAwake(Duration.ZERO) : tuning;
  }

  /// @param address of a listener, as [BenchTransport#told]; empty for other orders
  /// @param cpuNanos CPU time of the far process so far
  record Answer(String address, long cpuNanos) {}
}
