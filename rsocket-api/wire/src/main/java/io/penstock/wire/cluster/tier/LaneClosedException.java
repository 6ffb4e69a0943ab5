package io.penstock.wire.cluster.tier;

import io.penstock.TransientKvException;

/// The connection to a node of the cluster was ended on this side: the node has left, or the client was closed.
final class LaneClosedException extends TransientKvException {
  LaneClosedException() {
    super("connection to a node of the cluster must be open (was closed)");
  }
}
