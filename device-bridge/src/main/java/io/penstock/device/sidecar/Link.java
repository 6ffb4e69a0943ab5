package io.penstock.device.sidecar;

/// One connection, for its sender. Safe from any thread; no call waits.
interface Link {
  void send(Frame frame);

  /// Sends `frame`, then closes.
  void sendLast(Frame frame);

  /// Idempotent.
  void close();
}
