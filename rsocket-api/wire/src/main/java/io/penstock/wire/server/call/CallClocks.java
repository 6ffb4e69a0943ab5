package io.penstock.wire.server.call;

import io.penstock.wire.credit.ConnectionRate;
import io.penstock.wire.report.StreamClock;
import io.penstock.wire.report.StreamListener;

/// The clocks of the streams of one connection of a node.
///
/// @param streams hears of each stream
/// @param address of the peer
/// @param running counts the bytes of all connections
/// @param rate charges what comes
public record CallClocks(StreamListener streams, Object address, RunningStreams running, ConnectionRate rate) {
  /// The clock of a stream whose bytes come to the node.
  public StreamClock incoming(Call call) {
    return StreamClock.of(running.counting(streams), call.route(), address, false, rate.counted(running.in()),
        call.trace());
  }

  /// The clock of a stream whose bytes leave the node.
  public StreamClock outgoing(Call call) {
    return StreamClock.of(running.counting(streams), call.route(), address, true, running.out(), call.trace());
  }
}
