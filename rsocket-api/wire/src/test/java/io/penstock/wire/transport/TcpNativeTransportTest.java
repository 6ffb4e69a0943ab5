package io.penstock.wire.transport;

/// TCP by the native transport where there is one.
final class TcpNativeTransportTest extends SocketContract {
  TcpNativeTransportTest() {
    super(false, true);
  }
}
