package io.penstock.lab.attack;

import io.penstock.wire.client.ServerStat;
import org.jspecify.annotations.Nullable;

/// State of a node at one moment.
///
/// @param blocks that are visible
/// @param inFlightBytes in and out
/// @param besideBytes of memory that is lent for other purposes than visible blocks
/// @param connections null without an admin endpoint; so are the others below
/// @param streams that run
/// @param residentBytes memory of the process that is in RAM
record NodeFigures(long blocks, long inFlightBytes, long besideBytes, @Nullable Long connections,
    @Nullable Long streams, @Nullable Long residentBytes) {
  static NodeFigures of(ServerStat stat, Gauges gauges) {
    return new NodeFigures(stat.stat().blocks(), stat.inFlightBytes(),
        Math.max(0, stat.stat().claimedBytes() - stat.stat().bytes()), gauges.connections(), gauges.streams(),
        gauges.residentBytes());
  }

  /// Whether the node holds no more for its clients than `quiet` did; blocks and memory are judged elsewhere.
  boolean isAsIdleAs(NodeFigures quiet) {
    return inFlightBytes <= quiet.inFlightBytes && besideBytes <= quiet.besideBytes
        && isAtMost(connections, quiet.connections) && isAtMost(streams, quiet.streams);
  }

  private static boolean isAtMost(@Nullable Long now, @Nullable Long before) {
    return now == null || before == null || now <= before;
  }
}
