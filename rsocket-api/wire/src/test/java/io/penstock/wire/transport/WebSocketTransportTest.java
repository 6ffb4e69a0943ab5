package io.penstock.wire.transport;

/// WebSocket.
final class WebSocketTransportTest extends SocketContract {
  WebSocketTransportTest() {
    super(true, true);
  }
}
