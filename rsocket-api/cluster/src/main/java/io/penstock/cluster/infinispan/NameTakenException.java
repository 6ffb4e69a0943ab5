package io.penstock.cluster.infinispan;

import java.io.IOException;

/// Another living node of the cluster has this node's name.
public final class NameTakenException extends IOException {
  private final String node;

  public NameTakenException(String cluster, String node) {
    super("node name must be unique in cluster " + cluster + " (another member has " + node + ")");
    this.node = node;
  }

  /// The name.
  public String node() {
    return node;
  }
}
