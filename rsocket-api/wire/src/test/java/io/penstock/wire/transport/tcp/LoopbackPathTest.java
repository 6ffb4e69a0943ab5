package io.penstock.wire.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.channel.Channel;
import io.netty.channel.unix.DomainSocketAddress;
import io.penstock.testkit.Eventually;
import io.penstock.wire.transport.CongestionControl;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.netty.Connection;
import reactor.netty.DisposableServer;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.resources.LoopResources;
import reactor.netty.tcp.TcpClient;
import reactor.netty.tcp.TcpServer;

@Timeout(60)
class LoopbackPathTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);

  private final LoopResources loops = LoopResources.create("test", 2, true);

  @AfterEach
  void end() {
    loops.disposeLater(Duration.ZERO, LIMIT).block(LIMIT);
  }

  @Test
  void addresses_ofThisHostAlone_areLoopback() {
    assertThat(LoopbackPath.isLoopback(InetSocketAddress.createUnresolved("127.0.0.1", 1))).isTrue();
    assertThat(LoopbackPath.isLoopback(InetSocketAddress.createUnresolved("localhost", 1))).isTrue();
    assertThat(LoopbackPath.isLoopback(InetSocketAddress.createUnresolved("::1", 1))).isTrue();
    assertThat(LoopbackPath.isLoopback(new InetSocketAddress("127.0.0.1", 1))).isTrue();
    assertThat(LoopbackPath.isLoopback(new InetSocketAddress("0.0.0.0", 1))).isFalse();
    assertThat(LoopbackPath.isLoopback(InetSocketAddress.createUnresolved("node-7.example", 1))).isFalse();
    assertThat(LoopbackPath.isLoopback(InetSocketAddress.createUnresolved("192.0.2.7", 1))).isFalse();
    assertThat(LoopbackPath.isLoopback(new DomainSocketAddress("/tmp/socket"))).isFalse();
  }

  @Test
  void bothEnds_onNativeLinux_haveThePlainCongestionControl_alsoOfASecondConnection() {
    AtomicReference<@Nullable Channel> accepted = new AtomicReference<>();
    DisposableServer server = listening(accepted);
    try {
      TcpClient client =
          TcpClient.create(ConnectionProvider.newConnection()).runOn(loops).remoteAddress(server::address);
      for (int i = 0; i < 2; i++) {
        accepted.set(null);
        Connection connected = LoopbackPath.connecting(client, server.address(), loops).connectNow(LIMIT);
        assumeTrue(connected.channel().getClass().getName().contains("Epoll"), "a native transport of Linux");
        assertThat(congestionControl(connected.channel())).isEqualTo("reno");
        Eventually.holds("the server accepted", () -> accepted.get() != null);
        assertThat(congestionControl(accepted.get())).isEqualTo("reno");
        connected.disposeNow(LIMIT);
      }
    } finally {
      server.disposeNow(LIMIT);
    }
  }

  @Test
  void otherAddresses_areLeftAlone() {
    TcpClient client = TcpClient.create(ConnectionProvider.newConnection()).runOn(loops);
    SocketAddress far = InetSocketAddress.createUnresolved("192.0.2.7", 1);

    assertThat(LoopbackPath.connecting(client, far, loops)).isSameAs(client);
  }

  @Test
  void aSocketOfAnotherServer_isToldByItsOtherEnd() {
    DisposableServer server = TcpServer.create().runOn(loops).host("127.0.0.1").bindNow(LIMIT);
    try {
      Connection connected = TcpClient.create(ConnectionProvider.newConnection()).runOn(loops)
          .remoteAddress(server::address).connectNow(LIMIT);
      Channel socket = connected.channel();
      assumeTrue(socket.getClass().getName().contains("Epoll"), "a native transport of Linux");
      SocketAddress far = new InetSocketAddress("192.0.2.7", 1);
      assertThat(LoopbackPath.chosen(socket, socket.remoteAddress(), CongestionControl.AUTOMATIC))
          .isEqualTo(CongestionControl.RENO);
      assertThat(LoopbackPath.chosen(socket, socket.remoteAddress(), CongestionControl.SYSTEM)).isNull();
      assertThat(LoopbackPath.chosen(socket, far, CongestionControl.AUTOMATIC)).isNull();
      assertThat(LoopbackPath.chosen(socket, far, CongestionControl.CUBIC)).isEqualTo(CongestionControl.CUBIC);
      assertThat(LoopbackPath.chosen(socket, new DomainSocketAddress("/tmp/socket"), CongestionControl.RENO)).isNull();
      connected.disposeNow(LIMIT);
    } finally {
      server.disposeNow(LIMIT);
    }
  }

  private DisposableServer listening(AtomicReference<@Nullable Channel> accepted) {
    InetSocketAddress local = new InetSocketAddress("127.0.0.1", 0);
    TcpServer server = TcpServer.create().runOn(loops).bindAddress(() -> local)
        .doOnConnection(connection -> accepted.set(connection.channel()));
    return LoopbackPath.listening(server, local, loops).bindNow(LIMIT);
  }

  private static String congestionControl(Channel channel) {
    ByteBuffer name = channel.config().getOption(CongestionControl.RENO.option());
    return StandardCharsets.US_ASCII.decode(name).toString();
  }
}
