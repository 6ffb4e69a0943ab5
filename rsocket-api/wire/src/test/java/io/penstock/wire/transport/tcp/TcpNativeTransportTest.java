package io.penstock.wire.transport.tcp;

/// TCP by the native transport where there is one.
final class TcpNativeTransportTest extends SocketContract {
  TcpNativeTransportTest() {
    super(false, true);
  }
}
