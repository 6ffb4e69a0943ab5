package io.penstock.wire.transport.tcp;

/// TCP by the JDK's own sockets.
final class TcpNioTransportTest extends SocketContract {
  TcpNioTransportTest() {
    super(false, false);
  }
}
