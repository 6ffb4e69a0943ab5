package io.penstock.wire.transport.tcp;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.wire.transport.NameResolver;
import io.rsocket.DuplexConnection;
import io.rsocket.transport.ClientTransport;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Mono;
import reactor.netty.resources.LoopResources;

/// Connections to a peer that has a name.
@Timeout(60)
final class NamedPeerTest {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final InetAddress FIRST = InetAddress.ofLiteral("127.0.0.1");
  private static final InetAddress SECOND = InetAddress.ofLiteral("127.0.0.2");

  private final LoopResources loops = LoopResources.create("named", 1, true);
  private final AtomicReference<List<InetAddress>> answer = new AtomicReference<>(List.of());
  private final AtomicInteger lookUps = new AtomicInteger();
  private final NameResolver names = new NameResolver(host -> Mono.fromSupplier(() -> {
    assertThat(host).isEqualTo("peer.test");
    lookUps.incrementAndGet();
    return answer.get();
  }));

  @AfterEach
  void close() {
    loops.disposeLater(Duration.ZERO, SOON).block(SOON);
  }

  private TcpListener listen(InetAddress at, int port) {
    return requireNonNull(TcpTransport.server(TcpServerOptions.on(new InetSocketAddress(at, port)), loops)
        .start(connection -> connection.onClose()).block(SOON));
  }

  private ClientTransport client(int port) {
    return TcpTransport.client(TcpClientOptions.to("peer.test", port).withNames(names), loops);
  }

  private static InetAddress reached(ClientTransport client) {
    DuplexConnection connection = requireNonNull(client.connect().block(SOON));
    InetAddress remote = ((InetSocketAddress) connection.remoteAddress()).getAddress();
    connection.dispose();
    connection.onClose().block(SOON);
    return remote;
  }

  @Test
  void aName_isLookedUpForEachConnection() {
    TcpListener first = listen(FIRST, 0);
    TcpListener second = listen(SECOND, first.port());
    ClientTransport client = client(first.port());

    answer.set(List.of(FIRST));
    assertThat(reached(client)).isEqualTo(FIRST);
    answer.set(List.of(SECOND));
    assertThat(reached(client)).isEqualTo(SECOND);
    assertThat(lookUps).hasValue(2);

    second.dispose();
    second.onClose().block(SOON);
    answer.set(List.of(SECOND, FIRST));
    assertThat(reached(client)).as("the address that accepts").isEqualTo(FIRST);
    answer.set(List.of(SECOND));
    assertThatThrownBy(() -> client.connect().block(SOON)).hasCauseInstanceOf(ConnectException.class)
        .hasMessageContaining("no node is listening at peer.test:" + first.port());
    first.dispose();
    first.onClose().block(SOON);
  }

  @Test
  void anUnknownName_endsTheAttemptWithItsName() {
    assertThatThrownBy(() -> client(1).connect().block(SOON)).hasRootCauseInstanceOf(UnknownHostException.class)
        .hasRootCauseMessage("peer.test");
  }

  @Test
  void theSystem_knowsThisHost_andNamesTheHostThatItDoesNotKnow() {
    assertThat(NameResolver.ofSystem().addresses("localhost").block(SOON)).contains(FIRST);
    assertThatThrownBy(() -> NameResolver.ofSystem().addresses("no such host").block(SOON))
        .hasCauseInstanceOf(UnknownHostException.class).hasMessageEndingWith("no such host");
  }
}
