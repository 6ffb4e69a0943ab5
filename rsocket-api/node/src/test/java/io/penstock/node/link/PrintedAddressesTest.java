package io.penstock.node.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.penstock.check.InternetAddress;
import io.penstock.disagg.registry.Registration;
import io.penstock.node.config.AdminSettings;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.config.RankSettings;
import io.penstock.node.config.TransportSettings;
import io.penstock.node.shape.LayoutSettings;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.TransportKind;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Every address that a command prints is one that every command accepts.
final class PrintedAddressesTest {
  private static List<String> hosts() throws SocketException {
    NetworkInterface link = NetworkInterface.networkInterfaces().findFirst().orElseThrow();
    return List.of("node7", "unix", "local", "localhost", "127.0.0.1", "0.0.0.0", "::", "::1", "2001:db8::7",
        "fe80::1%" + link.getName());
  }

  private static List<String> printed() throws SocketException {
    List<String> all = new ArrayList<>(List.of("unix:/run/penstock/node.sock", "unix:a b"));
    for (String host : hosts()) {
      all.add(Endpoint.tcp(host, 7733).toString());
      all.add(Endpoint.webSocket(host, 7734).toString());
      all.add(new Registration.Endpoint(host, 7733).toString());
      all.add(new HostPort(host, 7733).toString());
    }
    return all;
  }

  @Test
  void everyPrintedAddress_isAcceptedAsItIs() throws Exception {
    for (String text : printed()) {
      Endpoint place = new NodeAddress.Converter().convert(text);
      assertThat(place).hasToString(text);
      NodeConfig config = NodeConfig.resolve(null, Map.of(), Map.of(LayoutSettings.MODEL, "llama-3.1-8b",
          RankSettings.SIDE, "prefill", RankSettings.REGISTRY, text, TransportSettings.ADVERTISE_TOWARDS, text));
      assertThat(config.get(RankSettings.REGISTRY)).hasToString("[" + text + "]");
      assertThat(config.get(TransportSettings.ADVERTISE_TOWARDS)).hasToString("Optional[" + text + "]");
      if (place.transport() == TransportKind.TCP) {
        assertThat(new HostPort.Converter().convert(text)).hasToString(text);
      }
    }
  }

  @Test
  void theUrlOfTheAdminEndpoints_isAccepted() throws Exception {
    for (String host : hosts()) {
      String url = "http://" + InternetAddress.text(host, 7780);
      HostPort read = HostPort.parse(url);
      assertThat(read).isEqualTo(new HostPort(host, 7780)).isEqualTo(HostPort.parse(url + "/"));
      assertThat(HostPort.parse(url.replace("http:", "https:"))).isEqualTo(read);
    }
  }

  @Test
  void aHost_isReadWithAndWithoutBrackets() {
    NodeConfig config = NodeConfig.resolve(null, Map.of(), Map.of(NodeSettings.LISTEN_HOST, "[::1]",
        AdminSettings.HOST, "::1", TransportSettings.ADVERTISE_HOST, "[2001:db8::7]"));
    assertThat(config.get(NodeSettings.LISTEN_HOST)).isEqualTo("::1").isEqualTo(config.get(AdminSettings.HOST));
    assertThat(config.get(TransportSettings.ADVERTISE_HOST)).contains("2001:db8::7");
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.0.0.0", "::", "fe80::1%eth0", "fe80::1", "a b", "10.0.0.256", "h:7733"})
  void aHostThatOthersCannotUse_isNotAdvertised(String host) {
    assertThatIllegalArgumentException().isThrownBy(
        () -> NodeConfig.resolve(null, Map.of(), Map.of(TransportSettings.ADVERTISE_HOST, host)))
        .withMessageContaining("advertise.host must be a name, or an address that other hosts can use");
  }
}
