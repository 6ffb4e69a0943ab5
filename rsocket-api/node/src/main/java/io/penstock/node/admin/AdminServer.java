package io.penstock.node.admin;

import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.penstock.meter.PenstockMeters;
import io.penstock.node.text.Json;
import io.penstock.node.whatif.WhatIfPages;
import io.penstock.tier.BlockTier;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.tcp.WildcardAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;
import reactor.netty.resources.LoopResources;

/// The admin endpoints, on an event loop of their own: a scrape never waits behind a stream of blocks.
///
/// | Path | Answer |
/// |---|---|
/// | `/metrics` | the registry in Prometheus' text format |
/// | `/health` | [Health] as JSON, 200 when ready, else 503 |
/// | `/whatif` | what other capacities would bring to each space, as JSON |
/// | `/whatif.svg?space=NAME` | the same of one space, as a chart; of the first if none is named |
/// | `/` | where to look |
public final class AdminServer {
  private static final String INDEX = """
      penstock
        /metrics  for Prometheus
        /health   200 when ready, else 503
        /whatif   what other capacities would bring; /whatif.svg?space=NAME is the chart
      """;
  private static final String PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";
  private static final Duration PATIENCE = Duration.ofSeconds(2);
  private static final Duration IDLE = Duration.ofSeconds(60);

  private final Supplier<List<BlockTier>> tiers;
  private final Supplier<List<TransportState>> transports;
  private final Supplier<NodeState> state;
  private final PrometheusMeterRegistry registry;
  private final PenstockMeters meters;
  private final Scheduler timers;
  private final WhatIfPages whatIf;
  private final Supplier<List<String>> warnings;

  /// A node that warns of nothing.
  public AdminServer(Supplier<List<BlockTier>> tiers, Supplier<List<TransportState>> transports,
      Supplier<NodeState> state, PrometheusMeterRegistry registry, PenstockMeters meters,
      Scheduler timers, WhatIfPages whatIf) {
    this(tiers, transports, state, registry, meters, timers, whatIf, List::of);
  }

  /// @param tiers whose figures are shown; there may be more of them later
  /// @param transports shown by `/health`
  /// @param state asked at every probe
  /// @param registry shown by `/metrics`
  /// @param meters of the tiers, in `registry`
  /// @param timers ends the wait for a tier that does not answer
  /// @param whatIf shown by `/whatif`, and as gauges
  /// @param warnings for an operator, although the node serves; asked at every probe
  public AdminServer(Supplier<List<BlockTier>> tiers, Supplier<List<TransportState>> transports,
      Supplier<NodeState> state, PrometheusMeterRegistry registry, PenstockMeters meters,
      Scheduler timers, WhatIfPages whatIf, Supplier<List<String>> warnings) {
    this.warnings = warnings;
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
  public Mono<? extends DisposableServer> bind(String host, int port, LoopResources loops) {
    InetSocketAddress local = Endpoint.internet(host, port);
    return HttpServer.create().runOn(WildcardAddress.listening(loops, local)).bindAddress(() -> local)
        .idleTimeout(IDLE)
        .route(routes -> routes.get("/metrics", this::metrics).get("/health", this::health).get("/", this::index)
            .get("/whatif", this::whatIf).get("/whatif.svg", this::whatIfChart)
            .head("/metrics", this::metrics).head("/health", this::health).head("/", this::index))
        .bind();
  }

  private Mono<Void> index(HttpServerRequest request, HttpServerResponse response) {
    return text(response, "text/plain; charset=utf-8", INDEX);
  }

  private Mono<Void> metrics(HttpServerRequest request, HttpServerResponse response) {
    whatIf.bindTo(meters); // a space may be new
    return stat().onErrorComplete().then(Mono.fromSupplier(registry::scrape))
        .flatMap(all -> text(response, PROMETHEUS, all));
  }

  private Mono<Void> health(HttpServerRequest request, HttpServerResponse response) {
    return stat().map(tiers -> Health.of(state.get(), tiers, transports.get(), warnings.get()))
        .onErrorResume(failure -> Mono
            .just(Health.failed(state.get(), transports.get(), String.valueOf(failure.getMessage()), warnings.get())))
        .flatMap(health -> {
          response.status(health.isUp() ? HttpResponseStatus.OK : HttpResponseStatus.SERVICE_UNAVAILABLE);
          return text(response, "application/json", Json.of(health) + "\n");
        });
  }

  private Mono<Void> whatIf(HttpServerRequest request, HttpServerResponse response) {
    return text(response, "application/json", whatIf.json() + "\n");
  }

  private Mono<Void> whatIfChart(HttpServerRequest request, HttpServerResponse response) {
    List<String> spaces = new QueryStringDecoder(request.uri()).parameters().getOrDefault("space", List.of());
    return whatIf.svg(spaces.isEmpty() ? null : spaces.getFirst())
        .map(chart -> text(response, "image/svg+xml", chart)).orElseGet(response::sendNotFound);
  }

  /// Asks the tiers and refreshes the gauges with their answers.
  private Mono<List<Health.TierFacts>> stat() {
    return Flux.fromIterable(tiers.get())
        .concatMap(tier -> meters.refresh(tier).map(stat -> Health.TierFacts.of(tier.info(), stat)))
        .collectList().timeout(PATIENCE, timers);
  }

  private static Mono<Void> text(HttpServerResponse response, String type, String text) {
    return response.header(HttpHeaderNames.CONTENT_TYPE, type).sendString(Mono.just(text)).then();
  }
}
