package io.penstock.gateway.http;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.penstock.gateway.api.ApiException;
import io.penstock.gateway.api.ApiForm;
import io.penstock.gateway.api.ApiJson;
import io.penstock.gateway.dialect.Metaserver;
import io.penstock.gateway.instance.Instance;
import io.penstock.gateway.instance.InstanceRole;
import io.penstock.gateway.instance.Instances;
import io.penstock.gateway.instance.ModelCatalog;
import io.penstock.gateway.relay.Relay;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The endpoints of clients, and `/v1/metaserver` for engines of the layer-wise dialect.
public final class ApiRoutes {
  private static final int MAX_REPORT = 1 << 20;

  private final HttpOptions options;
  private final ApiKeys keys;
  private final Relay relay;
  private final Instances instances;
  private final ModelCatalog models;
  private final Metaserver metaserver;
  private final @Nullable SessionPool sessions;
  private final @Nullable QuotaShare shared;
  private final GatewayMeters meters;
  private final RandomGenerator random;
  private final Scheduler timer;
  private final Scheduler work;
  private volatile boolean isDraining;

  /// @param models which engine has which model
  /// @param sessions is told the states of sessions; null for none
  /// @param shared makes quotas hold over several gateways; null if they hold at this one
  /// @param random the source of ids
  /// @param timer the clock
  /// @param work parses large bodies
  public ApiRoutes(HttpOptions options, ApiKeys keys, Relay relay, Instances instances, ModelCatalog models,
      Metaserver metaserver, @Nullable SessionPool sessions, @Nullable QuotaShare shared, GatewayMeters meters,
      RandomGenerator random, Scheduler timer, Scheduler work) {
    this.options = options;
    this.keys = keys;
    this.relay = relay;
    this.instances = instances;
    this.models = models;
    this.metaserver = metaserver;
    this.sessions = sessions;
    this.shared = shared;
    this.meters = meters;
    this.random = random;
    this.timer = timer;
    this.work = work;
  }

  Publisher<Void> handle(HttpServerRequest request, HttpServerResponse response) {
    String path = RequestPath.of(request.uri());
    if (path.equals("/health")) {
      return health(response);
    }
    if (path.equals(Metaserver.PATH) && request.method().equals(HttpMethod.POST)) {
      return Reading.json(request, MAX_REPORT, options.bodyTime(), timer).map(ApiJson::request)
          .flatMap(metaserver::report).flatMap(reply -> json(response, reply.status(), reply.body()))
          .onErrorResume(ApiException.class, refusal -> json(response, refusal.status(),
              ApiJson.object().put("detail", refusal.getMessage())));
    }
    return new Exchange(this, request, response, ApiForm.ofPath(path)).run();
  }

  /// From now on the health is that of a gateway that ends: those who send it requests shall send them elsewhere.
  public void drain() {
    isDraining = true;
  }

  /// Answers whether requests can be answered: 200, or 503 with the reason.
  Mono<Void> health(HttpServerResponse response) {
    int answering = instances.answering();
    boolean isReady = answering > 0 && !isDraining;
    String state = isDraining ? "draining" : isReady ? "ready" : whyNone();
    ObjectNode body = ApiJson.object().put("state", state).put("instances", answering);
    QuotaShare quotas = shared;
    if (quotas != null) {
      body.put("quotas", quotas.isShared() ? "shared" : "own");
    }
    return json(response, isReady ? 200 : 503, body);
  }

  @Nullable QuotaShare shared() {
    return shared;
  }

  /// Why no instance answers.
  String whyNone() {
    return instances.whyNone(InstanceRole.DECODE);
  }

  static Mono<Void> json(HttpServerResponse response, int status, ObjectNode body) {
    return response.status(status).header(HttpHeaderNames.CONTENT_TYPE, "application/json")
        .sendByteArray(Mono.just(ApiJson.text(body).getBytes(StandardCharsets.UTF_8))).then();
  }

  /// The models of all instances that answer requests, by name.
  Map<String, JsonNode> models() {
    return models.of(Stream.of(InstanceRole.BOTH, InstanceRole.DECODE)
        .flatMap(role -> instances.live(role).stream().sorted(Comparator.comparing(Instance::name))).toList());
  }

  String newId() {
    return HexFormat.of().toHexDigits(random.nextLong()) + HexFormat.of().toHexDigits(random.nextLong());
  }

  long epochSecond() {
    return timer.now(TimeUnit.SECONDS);
  }

  HttpOptions options() {
    return options;
  }

  ApiKeys keys() {
    return keys;
  }

  Relay relay() {
    return relay;
  }

  /// Null if the gateway was given no pool.
  @Nullable SessionPool sessions() {
    return sessions;
  }

  GatewayMeters meters() {
    return meters;
  }

  Scheduler timer() {
    return timer;
  }

  Scheduler work() {
    return work;
  }
}
