package io.penstock.device.sidecar;

/// Makes connections to a node.
@FunctionalInterface
interface Dialer {
  /// Begins to connect and returns; `events` receives the result.
  void dial(LinkEvents events);
}
