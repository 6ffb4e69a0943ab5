package io.penstock.node.admin;

/// Where a node is in its life.
public enum NodeState {
  /// Not listening yet.
  STARTING,
  /// Serving.
  READY,
  /// Ending what runs, taking nothing new.
  DRAINING
}
