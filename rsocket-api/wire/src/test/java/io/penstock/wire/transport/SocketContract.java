package io.penstock.wire.transport;

import io.rsocket.Closeable;
import io.rsocket.transport.ClientTransport;
import io.rsocket.transport.ServerTransport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import reactor.netty.resources.LoopResources;

/// The contract of transports over internet sockets.
abstract class SocketContract extends TransportContract {
  private final boolean isWebSocket;
  private final LoopResources loops;

  SocketContract(boolean isWebSocket, boolean isNative) {
    this.isWebSocket = isWebSocket;
    this.loops = isNative ? pair.loops : useNative -> pair.loops.onServer(false);
  }

  @Override
  ServerTransport<? extends Closeable> server() {
    TcpServerOptions options = TcpServerOptions.on("127.0.0.1", 0).withLimits(pair.limits).withSlots(pair.slots)
        .withReceive(pair.receive);
    Framing framing = isWebSocket ? WebSocketFraming.ofServer(java.util.Set.of()) : Framing.LENGTHS;
    return TcpTransport.server(options, framing, loops, pair.listener, pair.ledger);
  }

  @Override
  ClientTransport client(Closeable listening) {
    return client(((TcpListener) listening).port());
  }

  @Override
  ClientTransport clientOfNobody() {
    try (ServerSocket free = new ServerSocket(0)) {
      return client(free.getLocalPort());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private ClientTransport client(int port) {
    TcpClientOptions options = TcpClientOptions.to("127.0.0.1", port).withLimits(pair.limits);
    return TcpTransport.client(options, isWebSocket ? TcpTransport.webSocketTo(options) : Framing.LENGTHS, loops,
        pair.listener, pair.ledger);
  }

  @Override
  TransportKind kind() {
    return isWebSocket ? TransportKind.WS : TransportKind.TCP;
  }
}
