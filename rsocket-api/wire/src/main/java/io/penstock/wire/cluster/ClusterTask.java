package io.penstock.wire.cluster;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;

/// A task of a member, and how far it is.
///
/// @param id unique in the cluster
/// @param node name of the member
/// @param order what it is to do
/// @param blocks blocks that were copied, moved or removed
/// @param bytes of these blocks
/// @param left blocks of the member that it may have to do with still; an estimate
/// @param problem why it failed, or what it could not do; empty if nothing
public record ClusterTask(String id, String node, TaskOrder order, State state, long blocks, long bytes, long left,
    String problem) {
  /// How a task stands.
  public enum State {
    RUNNING, DONE, FAILED, CANCELLED
  }

  public ClusterTask {
    requireNonNull(id, "id");
    requireNonNull(node, "node");
    requireNonNull(order, "order");
    requireNonNull(state, "state");
    Checks.notNegative("blocks", blocks);
    Checks.notNegative("bytes", bytes);
    Checks.notNegative("left", left);
    requireNonNull(problem, "problem");
  }
}
