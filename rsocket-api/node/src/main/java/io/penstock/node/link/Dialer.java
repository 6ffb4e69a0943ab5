package io.penstock.node.link;

import io.penstock.node.config.NodeConfig;
import java.time.Duration;

/// Opens the link to a node.
@FunctionalInterface
public interface Dialer {
  /// @param config of which the space, slice and window sizes count
  /// @param patience longest wait
  /// @throws io.penstock.node.cli.UnavailableException if no node answers
  NodeLink dial(NodeAddress address, NodeConfig config, Duration patience);

  /// The same for a command that asks about a node and needs none of its spaces.
  default NodeLink dialNode(NodeAddress address, NodeConfig config, Duration patience) {
    return dial(address, config, patience);
  }
}
