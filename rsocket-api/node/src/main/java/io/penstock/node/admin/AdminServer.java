package io.penstock.node.admin;

import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.penstock.meter.PenstockMeters;
import io.penstock.node.cluster.roster.ClusterSight;
import io.penstock.node.door.NodeDoors;
import io.penstock.node.text.Json;
import io.penstock.node.whatif.WhatIfPages;
import io.penstock.tier.BlockTier;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.tcp.WildcardAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.netty.DisposableServer;
import reactor.netty.resources.LoopResources;
import reactor.netty.tcp.TcpServer;

/// The admin endpoints, on an event loop of their own: a scrape never waits behind a stream of blocks. A connection has
/// one request.
///
/// | Path | Answer |
/// |---|---|
/// | `/metrics` | the registry in Prometheus' text format |
/// | `/health` | [Health] as JSON, 200 when ready, else 503 |
/// | `/whatif` | what other capacities would bring to each space, as JSON |
/// | `/whatif.svg?space=NAME` | the same of one space, as a chart; of the first if none is named |
/// | `/cluster` | the node's cluster, if it is in one: as a page for browsers, else as JSON |
/// | `/cluster.json` | the same, always as JSON |
/// | `/` | where to look |
public final class AdminServer implements AdminPages {
  private static final String INDEX = """
      penstock
        /metrics  for Prometheus
        /health   200 when ready, else 503
        /whatif   what other capacities would bring; /whatif.svg?space=NAME is the chart
      """;
  private static final String INDEX_OF_CLUSTER = """
        /cluster  the cluster, as a page for browsers; /cluster.json is for machines
      """;
  private static final String PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";
  private static final Duration PATIENCE = Duration.ofSeconds(2);

  private final Supplier<List<BlockTier>> tiers;
  private final Supplier<List<TransportState>> transports;
  private final Supplier<NodeState> state;
  private final PrometheusMeterRegistry registry;
  private final PenstockMeters meters;
  private final Scheduler timers;
  private final WhatIfPages whatIf;
  private final Supplier<List<String>> warnings;
  private final @Nullable Mono<ClusterSight> cluster;
  private final Supplier<List<NodeDoors.Facts>> doors;

  /// A node that warns of nothing.
  public AdminServer(Supplier<List<BlockTier>> tiers, Supplier<List<TransportState>> transports,
      Supplier<NodeState> state, PrometheusMeterRegistry registry, PenstockMeters meters,
      Scheduler timers, WhatIfPages whatIf) {
    this(tiers, transports, state, registry, meters, timers, whatIf, List::of, null, List::of);
  }

  /// @param tiers whose figures are shown; there may be more of them later
  /// @param transports shown by `/health`
  /// @param state asked at every probe
  /// @param registry shown by `/metrics`
  /// @param meters of the tiers, in `registry`
  /// @param timers ends the wait for a tier that does not answer
  /// @param whatIf shown by `/whatif`, and as gauges
  /// @param warnings for an operator, although the node serves; asked at every probe
  /// @param cluster looked at for each question; null for a node that is in no cluster
  /// @param doors shown by `/health`
  public AdminServer(Supplier<List<BlockTier>> tiers, Supplier<List<TransportState>> transports,
      Supplier<NodeState> state, PrometheusMeterRegistry registry, PenstockMeters meters,
      Scheduler timers, WhatIfPages whatIf, Supplier<List<String>> warnings,
      @Nullable Mono<ClusterSight> cluster, Supplier<List<NodeDoors.Facts>> doors) {
    this.doors = doors;
    this.warnings = warnings;
    this.cluster = cluster;
    this.tiers = tiers;
    this.transports = transports;
    this.state = state;
    this.registry = registry;
    this.meters = meters;
    tiers.get().forEach(meters::bind);
    this.timers = timers;
    this.whatIf = whatIf;
    whatIf.bindTo(meters);
  }

  /// Listens; disposing the server stops it.
  ///
  /// @param port 0 for any free one
  /// @param loops stay the caller's to dispose
  /// @param passwords compares passwords
  public Mono<? extends DisposableServer> bind(String host, int port, AdminOptions options, LoopResources loops,
      Scheduler passwords) {
    AdminGate gate = new AdminGate(options, this, passwords, timers);
    AdminConnections connections = new AdminConnections(options.connections());
    InetSocketAddress local = Endpoint.internet(host, port);
    return TcpServer.create().runOn(WildcardAddress.listening(loops, local)).bindAddress(() -> local)
        .option(ChannelOption.SO_REUSEADDR, true).childOption(ChannelOption.AUTO_READ, false)
        .childOption(ChannelOption.TCP_NODELAY, true)
        .doOnConnection(connection -> AdminConnection.accept(connection, gate, connections)).bind();
  }

  @Override
  public Mono<Page> page(QueryStringDecoder target, boolean forPeople) {
    return switch (target.path()) {
      case "/" -> Mono.just(Page.plain(cluster == null ? INDEX : INDEX + INDEX_OF_CLUSTER));
      case "/metrics" -> metrics();
      case AdminGate.HEALTH -> health().map(health -> health(health, Json.of(health)));
      case "/whatif" -> Mono.fromSupplier(() -> Page.json(whatIf.json()));
      case "/whatif.svg" -> Mono.fromSupplier(() -> whatIfChart(target));
      case "/cluster" -> cluster(forPeople);
      case "/cluster.json" -> cluster(false);
      default -> Mono.just(unknown());
    };
  }

  private Mono<Page> cluster(boolean forPeople) {
    return cluster == null
        ? Mono.just(unknown())
        : cluster.map(sight -> forPeople ? Page.html(sight.html()) : Page.json(sight.json()));
  }

  private static Page unknown() {
    return Page.refused(HttpResponseStatus.NOT_FOUND, "path must be one that / names (was another)");
  }

  @Override
  public Mono<Page> state() {
    return health().map(health -> health(health, Json.of(Map.of("state", health.state()))));
  }

  private Mono<Page> metrics() {
    return Mono.defer(() -> {
      whatIf.bindTo(meters); // a space may be new
      return stat().onErrorComplete().then(Mono.fromSupplier(registry::scrape))
          .map(all -> Page.of(PROMETHEUS, all));
    });
  }

  private Mono<Health> health() {
    return stat().map(tiers -> Health.of(state.get(), tiers, transports.get(), doors.get(), warnings.get()))
        .onErrorResume(failure -> Mono
            .just(Health.failed(state.get(), transports.get(), doors.get(), String.valueOf(failure.getMessage()),
                warnings.get())));
  }

  private static Page health(Health health, String json) {
    return Page.json(json).with(health.isUp() ? HttpResponseStatus.OK : HttpResponseStatus.SERVICE_UNAVAILABLE);
  }

  private Page whatIfChart(QueryStringDecoder target) {
    List<String> spaces = target.parameters().getOrDefault("space", List.of());
    return whatIf.svg(spaces.isEmpty() ? null : spaces.getFirst()).map(chart -> Page.of("image/svg+xml", chart))
        .orElseGet(() -> Page.refused(HttpResponseStatus.NOT_FOUND, "space must be one of the node (was another)"));
  }

  /// Asks the tiers and refreshes the gauges with their answers.
  private Mono<List<Health.TierFacts>> stat() {
    return Flux.fromIterable(tiers.get())
        .concatMap(tier -> meters.refresh(tier).map(stat -> Health.TierFacts.of(tier.info(), stat)))
        .collectList().timeout(PATIENCE, timers);
  }
}
