package io.penstock.node.admin;

/// Phase of a node's life.
public enum NodeState {
  /// Not listening yet.
  STARTING,
  /// Serving from the other levels while the disk level opens.
  OPENING,
  /// Serving.
  READY,
  /// Running work ends; the node takes no new work.
  DRAINING
}
