package io.penstock.wire.simulate;

/// Which way a frame goes.
public enum Direction {
  /// From the client to the server.
  UP,
  /// From the server to the client.
  DOWN
}
