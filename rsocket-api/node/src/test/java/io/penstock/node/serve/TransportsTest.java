package io.penstock.node.serve;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.node.AdminRequest;
import io.penstock.node.CommandLineRun;
import io.penstock.node.admin.TransportState;
import io.penstock.node.config.AdminSettings;
import io.penstock.node.config.ConfigException;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.config.TransportSettings;
import io.penstock.node.setting.Setting;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import reactor.netty.resources.LoopResources;

/// How clients reach a node: several transports at once, ports, and what is said where one fails.
@Timeout(60)
final class TransportsTest {
  private static final Duration SOON = Duration.ofSeconds(20);

  @TempDir
  private Path folder;
  private final Map<Setting<?>, String> flags = new HashMap<>();
  private Node node;

  @BeforeEach
  void few() {
    flags.put(NodeSettings.LISTEN_PORT, "0");
    flags.put(AdminSettings.PORT, "off");
    flags.put(NodeSettings.DRAM, "20 blocks");
  }

  @AfterEach
  void stop() {
    if (node != null) {
      node.close().block(SOON);
    }
  }

  private Node start() {
    node = requireNonNull(Node.start(NodeConfig.resolve(null, Map.of(), flags)).block(SOON));
    return node;
  }

  private Path socket() {
    assumeTrue(LoopResources.hasNativeSupport(), "no native transport here");
    return folder.resolve("node");
  }

  private static CommandLineRun match(String address, String... more) {
    List<String> all = new ArrayList<>(List.of("match", "--trace-id", "0-3", "--connect", address));
    all.addAll(List.of(more));
    return CommandLineRun.of(all.toArray(String[]::new));
  }

  @Test
  void node_onThreeTransports_hasTheSameBlocksOnAll() throws Exception {
    flags.put(TransportSettings.SOCKET, socket().toString());
    flags.put(TransportSettings.WEB_SOCKET_PORT, "0");
    flags.put(AdminSettings.PORT, "0");
    start();
    String tcp = "127.0.0.1:" + node.port();
    List<String> places = node.transports().stream().map(TransportState::address).toList();
    assertThat(places).hasSize(3).startsWith(tcp, "unix:" + socket());

    CommandLineRun put = CommandLineRun.of("put", "--count", "4", "--connect", tcp);
    assertThat(put.exitCode()).as(put.err()).isZero();

    for (String place : places) {
      assertThat(match(place).out()).as(place).isEqualTo("prefix 4 of 4, present 4\n");
    }
    assertThat(match(tcp, "--transport", "uds").out()).isEqualTo("prefix 4 of 4, present 4\n");
    assertThat(match(tcp, "--transport", "auto").out()).isEqualTo("prefix 4 of 4, present 4\n");
    int admin = node.adminPort().orElseThrow();
    assertThat(AdminRequest.get(admin, "/health").body())
        .contains("\"transport\":\"ws\",\"state\":\"listening\",\"address\":\"ws://127.0.0.1:");
    // put, three, then two that looked at TCP first
    assertThat(AdminRequest.get(admin, "/metrics").body())
        .contains("penstock_wire_connects_total{transport=\"tcp\"} 4.0",
            "penstock_wire_connects_total{transport=\"uds\"} 3.0",
            "penstock_wire_connects_total{transport=\"ws\"} 1.0",
            "penstock_wire_disconnects_total{reason=\"refused\",transport=\"tcp\"} 0.0")
        .containsPattern("penstock_wire_moved_bytes_total\\{direction=\"in\",transport=\"ws\"} [1-9]");
    stop();
    assertThat(Files.list(folder)).isEmpty();
  }

  @Test
  void transport_thatTheNodeLacks_isAnErrorOfTheCommandThatDemandsIt() {
    start();
    CommandLineRun run = match("127.0.0.1:" + node.port(), "--transport", "uds");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains("a node without a Unix domain socket that this user can open here (was uds");
    assertThat(match("unix:/a", "--transport", "tcp").err())
        .contains("--transport must be auto or uds for --connect unix:/a (was tcp)");
  }

  @Test
  void range_takesTheFirstThatIsFree_andNamesItselfWhereNoneIs() throws IOException {
    try (ServerSocket first = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      int port = first.getLocalPort();
      assumeTrue(port < 65_000);
      flags.put(NodeSettings.LISTEN_PORT, port + "-" + (port + 20));
      assertThat(start().port()).isBetween(port + 1, port + 20);

      flags.put(NodeSettings.LISTEN_PORT, port + "-" + port);
      assertThatThrownBy(this::another).hasMessageContaining("listen.port must be free for this user at 127.0.0.1 (was "
          + port + ", from");
    }
    try (ServerSocket one = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        ServerSocket two = next(one)) {
      flags.put(NodeSettings.LISTEN_PORT, one.getLocalPort() + "-" + two.getLocalPort());
      assertThatThrownBy(this::another).hasMessageContaining(
          "listen.port must be a range with a port that is free for this user at 127.0.0.1")
          .hasMessageContaining("all 2 tried, the last: ");
    }
  }

  private static ServerSocket next(ServerSocket one) throws IOException {
    try {
      return new ServerSocket(one.getLocalPort() + 1, 1, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      assumeTrue(false, "the next port is another's");
      throw e;
    }
  }

  private Node another() {
    return Node.start(NodeConfig.resolve(null, Map.of(), flags)).block(SOON);
  }

  @Test
  void port_isTakenBeforeTheDisk_andClientsWaitUntilTheNodeServes() {
    flags.put(NodeSettings.SSD, "20 blocks");
    flags.put(NodeSettings.SSD_DIR, folder.resolve("ssd").toString());
    start();
    int port = node.port();
    flags.put(NodeSettings.LISTEN_PORT, String.valueOf(port));
    flags.put(NodeSettings.SSD_DIR, folder.resolve("other").toString());

    assertThatThrownBy(this::another).hasMessageContaining("listen.port must be free for this user");

    assertThat(folder.resolve("other")).doesNotExist();
    assertThat(match("127.0.0.1:" + port).exitCode()).isZero();
  }

  @Test
  void transportThatFails_endsTheStart_orIsLeftOutWhereThatIsAllowed() throws Exception {
    Path socket = socket();
    Files.writeString(socket, "a file of the user's");
    flags.put(TransportSettings.SOCKET, socket.toString());
    assertThatThrownBy(this::another)
        .hasMessageContaining("listen.socket must be a path where this user can listen (was " + socket)
        .hasMessageContaining("must be a socket, or not there");

    flags.put(TransportSettings.FALLBACK, "true");
    flags.put(AdminSettings.PORT, "0");
    start();
    assertThat(node.transports()).extracting(TransportState::state).containsExactly("listening", "failed");
    assertThat(AdminRequest.get(node.adminPort().orElseThrow(), "/health").body())
        .contains("\"degraded\":true", "\"transport\":\"uds\",\"state\":\"failed\"");
    assertThat(match("127.0.0.1:" + node.port()).exitCode()).isZero();
  }

  @Test
  void socketOfALivingNode_isRefused_andThatOfADeadOneReplaced() throws IOException {
    Path socket = socket();
    try (ServerSocketChannel dead = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      dead.bind(UnixDomainSocketAddress.of(socket));
    }
    flags.put(TransportSettings.SOCKET, socket.toString());
    flags.put(TransportSettings.PROTOCOL, "uds");
    start();
    assertThat(node.port()).isZero();
    assertThat(match("unix:" + socket).exitCode()).isZero();

    assertThatThrownBy(this::another).hasMessageContaining("no other node uses");
  }

  @Test
  void pinnedTransport_thatIsNotThere_failsAtStartNamingThoseThatAre() {
    flags.put(TransportSettings.PROTOCOL, "uds,tcp");
    assertThatThrownBy(() -> NodeConfig.resolve(null, Map.of(), flags)).isInstanceOf(ConfigException.class)
        .hasMessageContaining(
            "transport.protocol must be of transports that the node has, tcp; --listen-socket gives it"
                + " uds (was uds,tcp, from --transport-protocol)");
    flags.put(TransportSettings.PROTOCOL, "rdma");
    assertThatThrownBy(() -> NodeConfig.resolve(null, Map.of(), flags))
        .hasMessageContaining("transport.protocol must be auto, or some of tcp,uds,ws, separated by commas (was rdma");
  }

  @Test
  void folderOfRegions_withoutASocket_isRefused() {
    flags.put(TransportSettings.REGIONS, "/dev/shm");
    assertThatThrownBy(this::start)
        .hasMessageContaining("regions.folder must be off without listen.socket, over which clients name files (was"
            + " /dev/shm");
  }

  @Test
  void congestionControl_thatTheSystemLacks_failsAtStartNamingThoseThatItHas() {
    flags.put(TransportSettings.CONGESTION, "vegas");
    assertThatThrownBy(() -> NodeConfig.resolve(null, Map.of(), flags))
        .hasMessageContaining("transport.congestion must be one of automatic, system, reno, cubic, bbr (was vegas");
  }

  @Test
  void ready_tellsWhereOthersFindTheNode() {
    flags.put(NodeSettings.LISTEN_HOST, "0.0.0.0");
    flags.put(NodeSettings.OPEN_TO_NETWORK, "true");
    flags.put(TransportSettings.ADVERTISE_HOST, "node7.example.org");
    NodeConfig config = NodeConfig.resolve(null, Map.of(), flags);
    Ready ready = Ready.of(start(), config);

    assertThat(ready.endpoints()).containsExactly("node7.example.org:" + node.port());
    assertThat(ready.sentence()).startsWith(
        "serving on 0.0.0.0:" + node.port() + ", reached at node7.example.org:" + node.port() + "\n");
  }
}
