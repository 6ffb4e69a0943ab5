package io.penstock.wire.simulate;

/// Direction of a frame.
public enum Direction {
  /// From the client to the server.
  UP,
  /// From the server to the client.
  DOWN
}
