package io.penstock.node.admin;

/// Where a node is in its life.
public enum NodeState {
  /// Not listening yet.
  STARTING,
  /// Serving from the other levels while the disk level opens.
  OPENING,
  /// Serving.
  READY,
  /// Ending what runs, taking nothing new.
  DRAINING
}
