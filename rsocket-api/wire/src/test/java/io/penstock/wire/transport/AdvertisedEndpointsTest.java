package io.penstock.wire.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

final class AdvertisedEndpointsTest {
  private static final InetSocketAddress NEAR = new InetSocketAddress(InetAddress.getLoopbackAddress(), 40_000);
  private static final InetSocketAddress FAR = new InetSocketAddress("198.51.100.7", 40_000);
  private static final Endpoint SOCKET = Endpoint.unix(Path.of("/run/node"));

  private static AdvertisedEndpoints of(String host) {
    return new AdvertisedEndpoints(List.of(Endpoint.tcp(host, 7733), SOCKET), null);
  }

  @Test
  void loopback_isForPeersOfThisHostAlone() {
    assertThat(of("127.0.0.1").towards(NEAR)).containsExactly(Endpoint.tcp("127.0.0.1", 7733), SOCKET);
    assertThat(of("127.0.0.1").towards(null)).containsExactly(Endpoint.tcp("127.0.0.1", 7733), SOCKET);
    assertThat(of("127.0.0.1").towards(FAR)).containsExactly(SOCKET);
  }

  @Test
  void wildcard_becomesTheAddressThatRoutesToThePeer() {
    assertThat(of("0.0.0.0").towards(NEAR)).containsExactly(Endpoint.tcp("127.0.0.1", 7733), SOCKET);
    List<Endpoint> far = of("0.0.0.0").towards(FAR);
    AdvertisedEndpoints.route(FAR).ifPresentOrElse(
        route -> assertThat(far).containsExactly(Endpoint.tcp(route.getHostAddress(), 7733), SOCKET),
        () -> assertThat(far).containsExactly(SOCKET));
    assertThat(far).noneMatch(place -> place.toString().startsWith("0.0.0.0") || place.toString().startsWith("127."));
  }

  @Test
  void address_andStatedHost_areToldAsTheyAre() {
    assertThat(of("192.0.2.7").towards(FAR)).containsExactly(Endpoint.tcp("192.0.2.7", 7733), SOCKET);
    assertThat(new AdvertisedEndpoints(List.of(Endpoint.tcp("0.0.0.0", 7733)), "node7").towards(FAR))
        .containsExactly(Endpoint.tcp("node7", 7733));
  }

  @Test
  void hostToken_isTheSameForAllOfThisHost() {
    assertThat(AdvertisedEndpoints.hostToken()).isEqualTo(AdvertisedEndpoints.hostToken());
    AdvertisedEndpoints.hostToken().ifPresent(token -> assertThat(token).matches("[0-9a-f]{16}"));
  }

  @Test
  void aNameThatWasNotLookedUp_isNoHost() {
    InetSocketAddress name = InetSocketAddress.createUnresolved("registry.test", 7733);
    assertThat(of("0.0.0.0").shown(name)).containsExactly(SOCKET);
    assertThat(of("::").shown(name)).containsExactly(SOCKET);
    assertThat(of("127.0.0.1").shown(name)).containsExactly(SOCKET);
    assertThat(AdvertisedEndpoints.route(name)).isEmpty();
  }

  @Test
  void addressOfALink_isForPeersOfThisHostAlone() throws SocketException {
    String link = NetworkInterface.networkInterfaces().findFirst().orElseThrow().getName();
    Endpoint here = Endpoint.parse("[fe80::7%" + link + "]:7733");
    AdvertisedEndpoints sockets = new AdvertisedEndpoints(List.of(here), null);
    assertThat(sockets.towards(NEAR)).containsExactly(here);
    assertThat(sockets.towards(new InetSocketAddress("fe80::7", 40_000))).containsExactly(here);
    assertThat(sockets.towards(FAR)).isEmpty();
    assertThat(sockets.shown(null)).isEmpty();
    assertThat(sockets.towards(Endpoint.parse("[fe80::8%" + link + "]:40000").address())).isEmpty();
  }

  @Test
  void wildcardOfIpv4_hasNoAddressOfIpv6() {
    assertThat(of("0.0.0.0").towards(new InetSocketAddress("2001:db8::7", 40_000)))
        .noneMatch(place -> place.toString().startsWith("["));
  }
}
