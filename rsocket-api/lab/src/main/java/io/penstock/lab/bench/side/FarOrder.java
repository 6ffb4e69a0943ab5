package io.penstock.lab.bench.side;

import io.penstock.wire.transport.CongestionControl;

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
    /// Answer bytes, see [FarSide].
    PLAIN,
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

  /// @param address of a listener, as [BenchTransport#told]; empty for other orders
  /// @param cpuNanos CPU time of the far process so far
  record Answer(String address, long cpuNanos) {}
}
