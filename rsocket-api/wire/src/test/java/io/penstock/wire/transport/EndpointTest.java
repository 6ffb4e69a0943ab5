package io.penstock.wire.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class EndpointTest {
  @ParameterizedTest
  @CsvSource({"node7:7733,TCP", "127.0.0.1:1,TCP", "[::1]:7733,TCP", "[2001:db8::7]:65535,TCP",
    "unix:/run/penstock/node.sock,UDS", "ws://node7:7734/penstock,WS", "ws://[::1]:7734/penstock,WS",
    "local:a name,LOCAL", "tcp://unix:7733,TCP",
    "tcp://local:7733,TCP", "ws://unix:7733/penstock,WS", "unix:/run/ü %25/[a]:7,UDS", "unix:7733,UDS"})
  void text_isReadAndWrittenTheSame(String text, TransportKind kind) {
    assertThat(Endpoint.parse(text)).hasToString(text).extracting(Endpoint::transport).isEqualTo(kind);
  }

  @Test
  void otherSpellings_areRead() {
    assertThat(Endpoint.parse("tcp://node7:7733")).isEqualTo(Endpoint.tcp("node7", 7733));
    assertThat(Endpoint.parse("ws://node7:7734")).isEqualTo(Endpoint.webSocket("node7", 7734));
    assertThat(Endpoint.parse("unix:a").path()).isEqualTo(Path.of("a"));
    assertThat(Endpoint.parse("[::1]:7").host()).isEqualTo("::1");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "node7", "node7:", ":7733", "node7:0", "node7:65536", "node7:x", "::1:7733", "[::1]7733",
    "[::1:7733", "ws://node7:7734/other", "unix:", "local:", "[]:7733"})
  void others_areRefusedWithTheirText(String text) {
    assertThatIllegalArgumentException().isThrownBy(() -> Endpoint.parse(text)).withMessageContaining("was " + text);
  }

  @Test
  void addressOfALink_keepsTheLink() throws SocketException {
    NetworkInterface link = NetworkInterface.networkInterfaces().findFirst().orElseThrow();
    String text = "[fe80::1%" + link.getName() + "]:7733";

    Endpoint endpoint = Endpoint.parse(text);

    assertThat(endpoint).hasToString(text);
    assertThat(((Inet6Address) ((InetSocketAddress) endpoint.address()).getAddress()).getScopeId())
        .isEqualTo(link.getIndex());
    assertThatIllegalArgumentException().isThrownBy(() -> Endpoint.parse("[fe80::1%nosuch0]:7733"))
        .withMessageContaining("a link of this host");
  }
}
