package io.penstock.node.link;

import io.penstock.node.config.NodeConfig;
import java.time.Duration;

/// Opens links over TCP.
public final class WireDialer implements Dialer {
  @Override
  public NodeLink dial(NodeAddress address, NodeConfig config, Duration patience) {
    return WireLink.dial(address, config, patience);
  }

  @Override
  public NodeLink dialNode(NodeAddress address, NodeConfig config, Duration patience) {
    return StatLink.to(address, patience);
  }
}
