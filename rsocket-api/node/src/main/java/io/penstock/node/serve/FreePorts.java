package io.penstock.node.serve;

import io.penstock.node.config.AdminSettings;
import io.penstock.node.config.ClusterSettings;
import io.penstock.node.config.DoorSettings;
import io.penstock.node.config.KvEventSettings;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeConfig.Effective;
import io.penstock.node.setting.PortChoice;
import io.penstock.node.setting.Setting;
import io.penstock.node.text.Reason;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.TransportKind;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.util.List;
import reactor.core.publisher.Mono;
import reactor.netty.ChannelBindException;

/// Tries whether a node will be able to listen for probes and for its cluster, and publish KV events, so that one that
/// will not is refused before it has touched a disk. Another process may still take such a port before the node does;
/// the node then fails to bind it. The ports of clients are not tried but taken: see [NodeSockets].
final class FreePorts {
  private static final int MOST_PORT = 65_535;

  private FreePorts() {}

  /// Completes, or signals an `IOException` naming the setting that keeps the node from listening.
  static Mono<Void> required(NodeConfig config) {
    return Mono.fromCallable(() -> {
      require(config);
      return config;
    }).then();
  }

  private static void require(NodeConfig config) throws IOException {
    if (!config.get(AdminSettings.PORT).isOff()) {
      require(config, AdminSettings.HOST, AdminSettings.PORT, config.get(AdminSettings.PORT).port());
    }
    if (config.get(ClusterSettings.CLUSTER).isPresent()) {
      require(config, ClusterSettings.HOST, ClusterSettings.PORT, config.get(ClusterSettings.PORT));
    }
    for (DoorSettings door : DoorSettings.wanted(config)) {
      Endpoint place = config.get(door.listen()).orElseThrow();
      if (place.transport() == TransportKind.TCP) {
        requireDoor(config, door, place);
      }
    }
    requireApart(config);
    for (Setting<PortChoice> port : List.of(KvEventSettings.PORT, KvEventSettings.REPLAY_PORT)) {
      if (!config.get(KvEventSettings.PORT).isOff() && !config.get(port).isOff()) {
        requireEach(config, port, config.get(port).port());
      }
    }
  }

  /// Each space takes the ports 2 above those of the space before: no replay port may be an events port.
  private static void requireApart(NodeConfig config) throws IOException {
    PortChoice events = config.get(KvEventSettings.PORT);
    PortChoice replay = config.get(KvEventSettings.REPLAY_PORT);
    if (events.isOff() || replay.isOff() || events.port() == 0 || replay.port() == 0) {
      return;
    }
    int apart = Math.abs(replay.port() - events.port());
    int taken = 2 * Math.max(1, config.spaces().size());
    if (apart % 2 == 0 && apart < taken) {
      Effective said = config.effective(KvEventSettings.REPLAY_PORT);
      throw new IOException("%s must differ from kv.events.port by an odd number, or by >= %d (was %s, from %s)"
          .formatted(said.setting().key(), taken, said.text(), said.origin()));
    }
  }

  /// A port for each space.
  private static void requireEach(NodeConfig config, Setting<PortChoice> port, int number) throws IOException {
    for (int i = 0; i < Math.max(1, config.spaces().size()); i++) {
      int each = number == 0 ? 0 : number + 2 * i;
      if (each > MOST_PORT) {
        throw new IOException("%s must be <= %d with %d spaces, each of which has ports of its own (was %d)".formatted(
            port.key(), MOST_PORT - 2 * (config.spaces().size() - 1), config.spaces().size(), number));
      }
      require(config, KvEventSettings.HOST, port, each);
    }
  }

  private static void require(NodeConfig config, Setting<String> host, Setting<?> port, int number) throws IOException {
    InetSocketAddress address = lookedUp(config.get(host), number);
    if (address.isUnresolved()) {
      return; // the network library says it better
    }
    try (ServerSocketChannel socket = address.getAddress() instanceof Inet4Address
        ? ServerSocketChannel.open(StandardProtocolFamily.INET)
        : ServerSocketChannel.open()) {
      socket.bind(address);
    } catch (IOException e) {
      throw BindFailure.of(config, host, port, ChannelBindException.fail(address, e));
    }
  }

  private static void requireDoor(NodeConfig config, DoorSettings door, Endpoint place) throws IOException {
    try (ServerSocketChannel socket = ServerSocketChannel.open()) {
      socket.bind(lookedUp(place.host(), place.port()));
    } catch (IOException | UnresolvedAddressException e) {
      Effective said = config.effective(door.listen());
      throw new IOException("%s must be an address where this user can listen (was %s, from %s): %s".formatted(
          door.name(), said.text(), said.origin(), Reason.of(e)), e);
    }
  }

  private static InetSocketAddress lookedUp(String host, int port) {
    InetSocketAddress local = Endpoint.internet(host, port);
    return local.isUnresolved() ? new InetSocketAddress(host, port) : local;
  }
}
