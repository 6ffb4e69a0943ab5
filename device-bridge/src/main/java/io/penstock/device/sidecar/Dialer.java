package io.penstock.device.sidecar;

/// Makes connections to a node.
@FunctionalInterface
interface Dialer {
  /// Begins to connect and returns; `events` hears how it ends.
  void dial(LinkEvents events);
}
