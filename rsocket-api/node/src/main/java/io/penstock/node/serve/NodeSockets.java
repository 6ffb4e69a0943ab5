package io.penstock.node.serve;

import io.penstock.check.InternetAddress;
import io.penstock.node.admin.TransportState;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.config.TransportSettings;
import io.penstock.node.setting.PortRange;
import io.penstock.node.setting.Setting;
import io.penstock.node.text.Reason;
import io.penstock.wire.server.FrameLengths;
import io.penstock.wire.transport.AdvertisedEndpoints;
import io.penstock.wire.transport.ConnectionListener;
import io.penstock.wire.transport.ConnectionSlots;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.ReceiveLimits;
import io.penstock.wire.transport.SocketTuning;
import io.penstock.wire.transport.TransportKind;
import io.penstock.wire.transport.tcp.BoundTransport;
import io.penstock.wire.transport.tcp.BoundTransports;
import io.penstock.wire.transport.tcp.LoopbackPath;
import io.penstock.wire.transport.tcp.ServerBounds;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketAddress;
import java.net.SocketException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.ChannelBindException;
import reactor.netty.resources.LoopResources;

/// The sockets at which clients reach a node, on all its transports. They are bound before the node touches a disk, and
/// accept when it serves: no other process can take their ports in between.
///
/// Transports are installed one by one. One that fails ends the start, unless `transport.fallback` is on and another is
/// there.
final class NodeSockets {
  private static final Logger LOG = LoggerFactory.getLogger(NodeSockets.class);
  private static final Duration QUIET = Duration.ZERO;
  private static final Duration GOODBYE = Duration.ofSeconds(5);
  private static final String LOCALHOST = "localhost";

  private final NodeConfig config;
  private final LoopResources loops;
  private final ConnectionListener reports;
  private final TcpServerOptions options;
  private final ServerBounds bounds;
  private final List<BoundTransport> bound = new ArrayList<>();
  private final List<TransportState> states = new ArrayList<>();

  private NodeSockets(NodeConfig config, NodeSecurity security, ConnectionListener reports) {
    this.config = config;
    this.reports = reports;
    this.loops = LoopResources.create("penstock-net", config.get(NodeSettings.LOOPS), true);
    this.options = security.secured(options(config));
    this.bounds = ServerBounds.of(options);
  }

  private static TcpServerOptions options(NodeConfig config) {
    int connections = config.get(NodeSettings.CONNECTIONS);
    ConnectionSlots slots =
        new ConnectionSlots(connections, Math.min(connections, config.get(NodeSettings.CONNECTIONS_BY_ADDRESS)),
            config.get(NodeSettings.NEWCOMERS), config.get(NodeSettings.SETUP_TIMEOUT));
    SocketTuning tuning = new SocketTuning(config.get(TransportSettings.CONGESTION),
        Math.toIntExact(config.get(TransportSettings.SEND_BUFFER)),
        Math.toIntExact(config.get(TransportSettings.RECEIVE_BUFFER)),
        TransportSettings.awake(config));
    return FrameLengths.of(config.limits(), config.layouts()).bound(
        TcpServerOptions.on(config.get(NodeSettings.LISTEN_HOST), 0).withSlots(slots).withTuning(tuning),
        ReceiveLimits.defaults().withRoomBytes(config.get(NodeSettings.FRAMES_BYTES))
            .withFrameTime(config.get(NodeSettings.FRAME_TIMEOUT)));
  }

  /// Binds them as `config` says.
  ///
  /// @return a cold `Mono`; signals an `IOException` that names transport, setting and reason
  static Mono<NodeSockets> open(NodeConfig config, NodeSecurity security, ConnectionListener reports) {
    return Mono.defer(() -> {
      NodeSockets sockets = new NodeSockets(config, security, reports);
      return sockets.bindAll().thenReturn(sockets)
          .onErrorResume(failure -> sockets.close().then(Mono.error(failure)));
    });
  }

  private Mono<Void> bindAll() {
    return config.get(TransportSettings.CONGESTION).problem(LoopbackPath.canChoose(loops))
        .<Mono<Void>>map(rule -> Mono.error(new IllegalArgumentException(
            "transport.congestion %s (was %s)".formatted(rule, config.effective(TransportSettings.CONGESTION).text()))))
        .orElseGet(() -> Flux.fromIterable(TransportSettings.wanted(config)).concatMap(this::install).then()
            .then(Mono.defer(this::requireOne)));
  }

  private Mono<Void> install(TransportKind kind) {
    return (switch (kind) {
      case TCP -> tcp();
      case UDS -> unix();
      case WS -> webSocket();
      case LOCAL -> Mono.<List<BoundTransport>>error(new IllegalStateException("a node has no local transport"));
    }).doOnNext(all -> all.forEach(one -> installed(kind, one))).then().onErrorResume(failure -> failed(kind, failure));
  }

  private void installed(TransportKind kind, BoundTransport one) {
    bound.add(one);
    states.add(TransportState.listening(kind.word(), one.endpoint().toString()));
  }

  private Mono<Void> failed(TransportKind kind, Throwable failure) {
    if (!config.get(TransportSettings.FALLBACK)) {
      return Mono.error(failure);
    }
    String why = Reason.of(failure);
    LOG.warn("transport {} is not there: {}", kind.word(), why);
    states.add(TransportState.failed(kind.word(), wanted(kind), why));
    return Mono.empty();
  }

  private String wanted(TransportKind kind) {
    return switch (kind) {
      case UDS -> "unix:" + config.effective(TransportSettings.SOCKET).text();
      case WS ->
        host() + ":" + config.effective(TransportSettings.WEB_SOCKET_PORT).text();
      case TCP, LOCAL -> host() + ":" + config.effective(NodeSettings.LISTEN_PORT).text();
    };
  }

  private String host() {
    return InternetAddress.bracketed(config.get(NodeSettings.LISTEN_HOST));
  }

  private Mono<Void> requireOne() {
    return bound.isEmpty()
        ? Mono.error(new IOException("a node must have a transport (all failed: "
            + states.stream().map(TransportState::problem).toList() + ")"))
        : Mono.empty();
  }

  private Mono<List<BoundTransport>> tcp() {
    return internet(NodeSettings.LISTEN_PORT, config.get(NodeSettings.LISTEN_PORT), TransportKind.TCP);
  }

  private Mono<List<BoundTransport>> webSocket() {
    return internet(TransportSettings.WEB_SOCKET_PORT, config.get(TransportSettings.WEB_SOCKET_PORT).orElseThrow(),
        TransportKind.WS);
  }

  private Mono<List<BoundTransport>> unix() {
    Path path = config.get(TransportSettings.SOCKET).orElseThrow();
    if (!LoopResources.hasNativeSupport()) {
      return Mono.error(new IOException(("listen.socket must be off without Netty's native transport, which Unix domain"
          + " sockets need (was %s)").formatted(path)));
    }
    return TcpTransport.bind(options.withLocal(TcpServerOptions.on(path).local()), bounds, loops, reports).map(List::of)
        .onErrorMap(IOException.class, e -> BindFailure.at(config, TransportSettings.SOCKET, e));
  }

  /// Listens on all addresses of `listen.host`, at one port: the first of `ports` that is free.
  private Mono<List<BoundTransport>> internet(Setting<?> setting, PortRange ports, TransportKind kind) {
    List<String> hosts = config.get(NodeSettings.LISTEN_HOST).equals(LOCALHOST) && hasIpv6()
        ? List.of("127.0.0.1", "::1")
        : List.of(config.get(NodeSettings.LISTEN_HOST));
    return firstFree(hosts, ports, ports.first(), kind)
        .onErrorMap(ChannelBindException.class,
            e -> BindFailure.of(config, NodeSettings.LISTEN_HOST, setting, ports.count(), e));
  }

  private Mono<List<BoundTransport>> firstFree(List<String> hosts, PortRange ports, int port, TransportKind kind) {
    Mono<List<BoundTransport>> here = all(hosts, port, kind, new ArrayList<>());
    return port == ports.last()
        ? here
        : here.onErrorResume(ChannelBindException.class,
            e -> BindFailure.isPort(e) ? firstFree(hosts, ports, port + 1, kind) : Mono.error(e));
  }

  private Mono<List<BoundTransport>> all(List<String> hosts, int port, TransportKind kind, List<BoundTransport> taken) {
    return Flux.fromIterable(hosts).concatMap(host -> Mono.defer(() -> {
      int same = taken.isEmpty() ? port : taken.getFirst().endpoint().port();
      return bind(host, same, kind).doOnNext(taken::add);
    })).then(Mono.just(taken)).onErrorResume(failure -> Flux.fromIterable(taken).concatMap(BoundTransport::close)
        .then(Mono.error(failure)));
  }

  private Mono<BoundTransport> bind(String host, int port, TransportKind kind) {
    InetSocketAddress local = Endpoint.internet(host, port);
    return bind(local, kind).onErrorResume(ChannelBindException.class, e -> {
      boolean isDual = local.getAddress() instanceof Inet6Address six && six.isAnyLocalAddress();
      if (!isDual || BindFailure.isPort(e)) {
        return Mono.error(e);
      }
      LOG.warn("IPv6 is not there ({}): listening on IPv4 alone, 0.0.0.0", Reason.ofCause(e));
      return bind(Endpoint.internet("0.0.0.0", port), kind);
    });
  }

  private Mono<BoundTransport> bind(InetSocketAddress local, TransportKind kind) {
    TcpServerOptions here = options.withLocal(local);
    return kind == TransportKind.WS
        ? TcpTransport.bindWebSocket(here, config.get(TransportSettings.ORIGINS), bounds, loops, reports)
        : TcpTransport.bind(here, bounds, loops, reports);
  }

  private static boolean hasIpv6() {
    try {
      return NetworkInterface.getByInetAddress(InetAddress.ofLiteral("::1")) != null;
    } catch (SocketException e) {
      return false;
    }
  }

  LoopResources loops() {
    return loops;
  }

  /// One transport made of all bound ones. Starting it starts them all.
  BoundTransports transport() {
    return BoundTransports.of(bound);
  }

  /// Every transport that was wanted, in the order of preference.
  List<TransportState> states() {
    return List.copyOf(states);
  }

  AdvertisedEndpoints advertised() {
    return new AdvertisedEndpoints(bound.stream().map(BoundTransport::endpoint).toList(),
        config.get(TransportSettings.ADVERTISE_HOST).orElse(null));
  }

  /// Endpoints for clients beyond this host, or behind `advertise.towards`.
  List<Endpoint> shown() {
    return advertised().shown(config.get(TransportSettings.ADVERTISE_TOWARDS).map(NodeSockets::lookedUp).orElse(null))
        .stream().filter(place -> place.transport() != TransportKind.UDS).toList();
  }

  /// Endpoints that the node tells its cluster: those for clients beyond this host; those of this host if it has no
  /// other.
  List<Endpoint> told() {
    List<Endpoint> beyond = shown();
    return beyond.isEmpty() ? advertised().towards(null) : beyond;
  }

  private static SocketAddress lookedUp(Endpoint towards) {
    if (!(towards.address() instanceof InetSocketAddress to) || !to.isUnresolved()) {
      return towards.address();
    }
    InetSocketAddress found = new InetSocketAddress(to.getHostString(), to.getPort());
    if (found.isUnresolved()) {
      LOG.warn("no address is known for advertise.towards {}: a wildcard is not shown", towards);
    }
    return found;
  }

  /// The port of TCP; of the first socket with a port without TCP, or 0 without any.
  int port() {
    return first(TransportKind.TCP).or(() -> first(TransportKind.WS)).map(Endpoint::port).orElse(0);
  }

  private Optional<Endpoint> first(TransportKind kind) {
    return bound.stream().map(BoundTransport::endpoint).filter(place -> place.transport() == kind).findFirst();
  }

  /// Releases the sockets and their threads. Lazy and idempotent.
  Mono<Void> close() {
    return Flux.defer(() -> Flux.fromIterable(bound)).concatMap(BoundTransport::close).then()
        .then(loops.disposeLater(QUIET, GOODBYE));
  }
}
