package io.penstock.wire.transport;

/// TCP by the JDK's own sockets.
final class TcpNioTransportTest extends SocketContract {
  TcpNioTransportTest() {
    super(false, false);
  }
}
