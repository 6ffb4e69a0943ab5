package io.penstock.device.sidecar;

/// One connection, as whoever speaks on it sees it. Safe from any thread; nothing here waits.
interface Link {
  void send(Frame frame);

  /// Sends `frame`, then closes.
  void sendLast(Frame frame);

  /// Idempotent.
  void close();
}
