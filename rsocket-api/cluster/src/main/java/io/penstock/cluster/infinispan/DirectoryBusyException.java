package io.penstock.cluster.infinispan;

import io.penstock.TransientKvException;

/// The directory did not answer, for members come or go; it may answer a moment later.
public final class DirectoryBusyException extends TransientKvException {
  private final String cluster;

  DirectoryBusyException(String cluster, Throwable cause) {
    super("directory of cluster " + cluster + " must answer (" + cause + ")", cause);
    this.cluster = cluster;
  }

  /// Name of the cluster.
  public String cluster() {
    return cluster;
  }
}
