package io.penstock.node.link;

import io.penstock.node.config.NodeConfig;
import io.penstock.wire.cluster.tier.Spread;
import java.time.Duration;

/// Opens the link to a node.
@FunctionalInterface
public interface Dialer {
  /// @param config of which the space, slice and window sizes count
  /// @param patience longest wait
  /// @throws io.penstock.node.cli.UnavailableException if no node answers
  NodeLink dial(NodeAddress address, NodeConfig config, Duration patience);

  /// Dials for a command that asks about a node and needs none of its spaces.
  default NodeLink dialNode(NodeAddress address, NodeConfig config, Duration patience) {
    return dial(address, config, patience);
  }

  /// Dials all nodes of the cluster that the node is in.
  default NodeLink dialCluster(NodeAddress address, NodeConfig config, Duration patience, Spread spread) {
    return dial(address, config, patience);
  }

  /// Dials for a command that asks which spaces the cluster has that the node is in, and then links with one of them.
  default NodeLink dialClusterNode(NodeAddress address, NodeConfig config, Duration patience) {
    return dialNode(address, config, patience);
  }

  /// Opens links over the wire.
  static Dialer ofWire() {
    return new Dialer() {
      @Override
      public NodeLink dial(NodeAddress address, NodeConfig config, Duration patience) {
        return WireLink.dial(address, config, patience);
      }

      @Override
      public NodeLink dialNode(NodeAddress address, NodeConfig config, Duration patience) {
        return StatLink.to(address, config, patience);
      }

      @Override
      public NodeLink dialCluster(NodeAddress address, NodeConfig config, Duration patience, Spread spread) {
        return AllNodesLink.dial(address, config, config.space(), patience, spread);
      }

      @Override
      public NodeLink dialClusterNode(NodeAddress address, NodeConfig config, Duration patience) {
        return new ClusterSpacesLink(address, config, patience);
      }
    };
  }
}
