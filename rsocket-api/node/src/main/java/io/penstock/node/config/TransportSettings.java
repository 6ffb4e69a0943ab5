package io.penstock.node.config;

import io.penstock.check.InternetAddress;
import io.penstock.node.setting.AscendTypes;
import io.penstock.node.setting.PortRange;
import io.penstock.node.setting.Setting;
import io.penstock.node.setting.SettingType;
import io.penstock.wire.protocol.Carrier;
import io.penstock.wire.transport.CongestionControl;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.SocketTuning;
import io.penstock.wire.transport.TransportKind;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;

/// The settings of the ways to a node, in addition to `listen.host` and `listen.port`.
public final class TransportSettings {
  private static final String ANY = "*";
  private static final String NONE = "none";
  /// Transports that a node can have.
  private static final List<TransportKind> KINDS = List.of(TransportKind.TCP, TransportKind.UDS, TransportKind.WS);
  private static final String RANGE =
      "an integer from 0 to 65535, 0 for any free one, or a range such as 7733-7740";

  public static final Setting<Optional<Path>> SOCKET = new Setting<>("listen.socket", SettingType.pathOrOff(), "off",
      "Unix domain socket at which clients of this user on this host connect, or off.");
  public static final Setting<Optional<PortRange>> WEB_SOCKET_PORT = new Setting<>("listen.ws.port",
      new SettingType<>("PORT", RANGE + ", or off",
          text -> text.strip().equals("off") ? Optional.empty() : Optional.of(PortRange.parse(text)),
          port -> port.map(PortRange::toString).orElse("off")),
      "off", "Port of the WebSocket " + Endpoint.WEB_SOCKET_PATH + " at listen.host, for browsers, or off.");
  public static final Setting<Set<String>> ORIGINS = new Setting<>("listen.ws.origins",
      new SettingType<>("LIST", "origins such as https://chat.example.org, separated by commas, none, or * for any",
          TransportSettings::origins, all -> all.isEmpty() ? NONE : String.join(",", all)),
      NONE, "Pages whose browsers may use the WebSocket. A client that names no origin is no browser and may.");
  public static final Setting<List<TransportKind>> PROTOCOL = new Setting<>("transport.protocol",
      new SettingType<>("LIST", "auto, or some of " + words(KINDS) + ", separated by commas", TransportSettings::kinds,
          list -> list.isEmpty() ? SettingType.AUTO : words(list)),
      SettingType.AUTO,
      "Transports that the node must have, the preferred one first; auto has those with a port or a socket.");
  public static final Setting<Boolean> FALLBACK = new Setting<>("transport.fallback", AscendTypes.flag(), "false",
      "Whether the node starts without a transport that fails, if it has another.");
  public static final Setting<CongestionControl> CONGESTION = new Setting<>("transport.congestion",
      SettingType.oneOf(CongestionControl.class), "automatic",
      "Congestion control of TCP sockets (Linux): automatic is reno on loopback, else that of the system.");
  public static final Setting<List<Carrier>> CARRIER = new Setting<>("transport.carrier",
      new SettingType<>("NAME", "auto or inline", TransportSettings::carriers,
          list -> list.size() > 1 ? SettingType.AUTO : list.getFirst().label()),
      SettingType.AUTO,
      "Carrier of the bytes of blocks: auto is shared memory for clients that can read it over a Unix domain socket,"
          + " with memory.pages shared, else the connection; inline is the connection.");
  public static final Setting<Integer> RINGS = new Setting<>("transport.rings", SettingType.count(0, 1024), "16",
      "Maximum number of clients with a read ring in shared memory, a thread each; 0 for none.");
  public static final Setting<Integer> RING_SPIN = new Setting<>("transport.ring.spin.micros",
      SettingType.count(0, 1_000_000), "0",
      "Microseconds that the thread of a read ring may spin before it sleeps, for clients that wish it; it takes a"
          + " processor meanwhile.");
  public static final Setting<Integer> AWAKE = new Setting<>("transport.awake.micros", SettingType.count(0, 1000),
      "" + SocketTuning.AWAKE.toNanos() / 1000,
      "Microseconds for which a network thread looks for the next frame of a client whose requests have one answer"
          + " each, before it sleeps; while that is of use.");
  public static final Setting<Optional<Path>> REGIONS = new Setting<>("regions.folder", SettingType.pathOrOff(), "off",
      "Folder, such as /dev/shm, of files of this user in shared memory whose slots the node reads and writes for"
          + " clients at listen.socket, such as vLLM; or off.");
  public static final Setting<Long> SEND_BUFFER = new Setting<>("transport.send.buffer", buffer(), SettingType.AUTO,
      "Buffer of the system for what a socket sends; auto is 4 MiB for a Unix domain socket, else left to the system.");
  public static final Setting<Long> RECEIVE_BUFFER = new Setting<>("transport.receive.buffer", buffer(),
      SettingType.AUTO, "Buffer of the system for what a socket receives; auto leaves it to the system.");
  public static final Setting<Optional<String>> ADVERTISE_HOST = new Setting<>("advertise.host",
      SettingType.orAuto(advertised()), SettingType.AUTO,
      "Host that the node reports to clients; auto is the address of the interface that routes to them.");
  public static final Setting<Optional<Endpoint>> ADVERTISE_TOWARDS = new Setting<>("advertise.towards",
      SettingType.orAuto(address()), SettingType.AUTO,
      "An address, such as that of a registry: what the node says at its start is how it is reached from there.");

  /// All settings in the order of the help.
  public static final List<Setting<?>> ALL = List.of(SOCKET, WEB_SOCKET_PORT, ORIGINS, PROTOCOL, FALLBACK, CONGESTION,
      CARRIER, RINGS, RING_SPIN, AWAKE, REGIONS, SEND_BUFFER, RECEIVE_BUFFER, ADVERTISE_HOST, ADVERTISE_TOWARDS);

  private TransportSettings() {}

  /// Type of an address at which clients connect to a node.
  static SettingType<Endpoint> address() {
    return new SettingType<>("ADDRESS", "HOST:PORT, unix:PATH or ws://HOST:PORT", text -> {
      Endpoint place = Endpoint.parse(text.strip());
      if (place.transport() == TransportKind.LOCAL) {
        throw new IllegalArgumentException();
      }
      return place;
    }, Endpoint::toString);
  }

  /// Type of addresses of nodes that are one to a client, such as those of a registry.
  public static SettingType<List<Endpoint>> addresses() {
    SettingType<Endpoint> one = address();
    return new SettingType<>("LIST", "addresses " + one.rule() + ", separated by commas, or none",
        text -> text.strip().equals(NONE)
            ? List.of()
            : Arrays.stream(text.split(",", -1)).map(one.parse()).distinct().toList(),
        all -> all.isEmpty() ? NONE : all.stream().map(one.print()).collect(Collectors.joining(",")));
  }

  private static SettingType<String> advertised() {
    SettingType<String> host = SettingType.host();
    return new SettingType<>(host.label(), "a name, or an address that other hosts can use", text -> {
      String told = host.parse().apply(text);
      if (InternetAddress.isOfOneHost(told)) {
        throw new IllegalArgumentException();
      }
      return told;
    }, host.print());
  }

  /// Type of `listen.port`.
  static SettingType<PortRange> ports() {
    return new SettingType<>("PORT", RANGE, PortRange::parse, PortRange::toString);
  }

  private static SettingType<Long> buffer() {
    SettingType<Long> size = SettingType.longSizeOrAuto(4 << 10);
    Function<String, Long> parse = text -> {
      Long bytes = size.parse().apply(text);
      if (bytes > 1 << 30) {
        throw new IllegalArgumentException();
      }
      return bytes;
    };
    return new SettingType<>(size.label(), "a size from 4 KiB to 1 GiB, or auto", parse, size.print());
  }

  private static List<Carrier> carriers(String text) {
    return switch (text.strip()) {
      case SettingType.AUTO -> List.of(Carrier.values());
      case "inline" -> List.of(Carrier.INLINE);
      default -> throw new IllegalArgumentException();
    };
  }

  private static List<TransportKind> kinds(String text) {
    if (text.strip().equals(SettingType.AUTO)) {
      return List.of();
    }
    List<TransportKind> kinds = Arrays.stream(text.split(",")).map(String::strip).map(TransportKind::of).toList();
    if (!KINDS.containsAll(kinds) || kinds.stream().distinct().count() != kinds.size()) {
      throw new IllegalArgumentException();
    }
    return kinds;
  }

  private static Set<String> origins(String text) {
    if (text.strip().equals(NONE)) {
      return Set.of();
    }
    Set<String> origins = Arrays.stream(text.split(",")).map(String::strip)
        .collect(Collectors.toCollection(TreeSet::new));
    if (origins.stream().anyMatch(origin -> !origin.equals(ANY) && !origin.matches("https?://[^/ ]+"))) {
      throw new IllegalArgumentException();
    }
    return origins;
  }

  private static String words(List<TransportKind> kinds) {
    return kinds.stream().map(TransportKind::word).collect(Collectors.joining(","));
  }

  /// Adds combinations of transports that are not possible.
  static void require(NodeConfig config, List<String> problems) {
    for (TransportKind kind : config.get(PROTOCOL)) {
      if (!isConfigured(config, kind)) {
        problems.add("transport.protocol must be of transports that the node has, %s; %s gives it %s (%s)".formatted(
            words(KINDS.stream().filter(each -> isConfigured(config, each)).toList()),
            kind == TransportKind.UDS ? SOCKET.flag() : WEB_SOCKET_PORT.flag(), kind.word(), config.was(PROTOCOL)));
      }
    }
  }

  /// A region is named over the Unix domain socket alone.
  static void requireSocket(NodeConfig config, List<String> problems) {
    if (config.get(REGIONS).isPresent() && config.get(SOCKET).isEmpty()) {
      problems.add("regions.folder must be off without listen.socket, over which clients name files (%s)".formatted(
          config.was(REGIONS)));
    }
  }

  private static boolean isConfigured(NodeConfig config, TransportKind kind) {
    return switch (kind) {
      case TCP -> true;
      case UDS -> config.get(SOCKET).isPresent();
      case WS -> config.get(WEB_SOCKET_PORT).isPresent();
      case LOCAL -> false;
    };
  }

  /// How the node uses sockets that it opens to others.
  public static SocketTuning ofClients(NodeConfig config) {
    return SocketTuning.defaults().withAwake(awake(config));
  }

  /// How long its network threads stay awake.
  public static Duration awake(NodeConfig config) {
    return Duration.of(config.get(AWAKE), ChronoUnit.MICROS);
  }

  /// The transports of the node, the preferred one first.
  public static List<TransportKind> wanted(NodeConfig config) {
    List<TransportKind> pinned = config.get(PROTOCOL);
    return pinned.isEmpty() ? KINDS.stream().filter(kind -> isConfigured(config, kind)).toList() : pinned;
  }
}
