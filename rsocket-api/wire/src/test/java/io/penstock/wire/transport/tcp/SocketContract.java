package io.penstock.wire.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.wire.transport.TransportKind;
import io.rsocket.Closeable;
import io.rsocket.transport.ClientTransport;
import io.rsocket.transport.ServerTransport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import org.junit.jupiter.api.Test;
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
  public ServerTransport<? extends Closeable> server() {
    TcpServerOptions options = TcpServerOptions.on("127.0.0.1", 0).withLimits(pair.limits).withSlots(pair.slots)
        .withReceive(pair.receive);
    Framing framing = isWebSocket ? WebSocketFraming.ofServer(java.util.Set.of()) : Framing.LENGTHS;
    return TcpTransport.server(options, framing, loops, pair.listener, pair.ledger);
  }

  @Override
  public ClientTransport client(Closeable listening) {
    return client(((TcpListener) listening).port());
  }

  @Override
  public ClientTransport clientWithoutServer() {
    try (ServerSocket free = new ServerSocket(0)) {
      return client(free.getLocalPort());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private ClientTransport client(int port) {
    return client(port, TcpClientOptions.CONNECT_TIMEOUT);
  }

  private ClientTransport client(int port, Duration timeout) {
    TcpClientOptions options =
        TcpClientOptions.to("127.0.0.1", port).withConnectTimeout(timeout).withLimits(pair.limits);
    return TcpTransport.client(options, isWebSocket ? TcpTransport.webSocketTo(options) : Framing.LENGTHS, loops,
        pair.listener, pair.ledger);
  }

  @Test
  void connect_whereNoServerAccepts_endsWithItsTime() throws IOException {
    assertThat(TcpClientOptions.to("node", 7733).connectTimeout()).isEqualTo(Duration.ofSeconds(5));
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Socket first = new Socket(silent.getInetAddress(), silent.getLocalPort());
        Socket second = new Socket(silent.getInetAddress(), silent.getLocalPort())) { // its backlog is full
      long start = System.nanoTime();
      assertThatThrownBy(() -> client(silent.getLocalPort(), Duration.ofMillis(200)).connect().block(TcpPair.PATIENCE))
          .hasCauseInstanceOf(ConnectException.class);
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(Duration.ofMillis(150), Duration.ofSeconds(5));
      assertThat(first.isConnected() && second.isConnected()).isTrue();
    }
  }

  @Override
  public TransportKind kind() {
    return isWebSocket ? TransportKind.WS : TransportKind.TCP;
  }
}
