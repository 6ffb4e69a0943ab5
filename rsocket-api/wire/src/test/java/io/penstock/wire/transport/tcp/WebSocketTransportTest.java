package io.penstock.wire.transport.tcp;

/// WebSocket.
final class WebSocketTransportTest extends SocketContract {
  WebSocketTransportTest() {
    super(true, true);
  }
}
