package io.penstock.lab.bench.cluster.scale;

import java.util.function.ToDoubleFunction;

/// What calls cost in a cluster of so many nodes.
///
/// @param names in the directory
/// @param match a look-up of the longest prefix, of as many blocks as a put has
/// @param put of blocks that no node has, announcements included
/// @param told one name of those that nodes had at the start
/// @param bytesPerName of the simulated map; the engine's is measured elsewhere
/// @param recordsPerNode messages by which records of members were told, for each node
/// @param wrong answers that were not what the nodes have
public record ScaleCosts(int nodes, long names, Cost match, Cost put, Cost told, double bytesPerName,
    double recordsPerNode, long wrong) {
  /// What one call costs.
  ///
  /// @param messages between members: of the directory, and frames between nodes
  /// @param cpuMicros of processor time, without the engine's
  public record Cost(double messages, double cpuMicros) {}

  /// The power of the number of nodes by which a cost grows from `other` to here.
  public double exponent(ScaleCosts other, ToDoubleFunction<ScaleCosts> cost) {
    return Math.log(cost.applyAsDouble(this) / cost.applyAsDouble(other)) / Math.log((double) nodes / other.nodes);
  }
}
