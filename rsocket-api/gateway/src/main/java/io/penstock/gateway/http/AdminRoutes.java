package io.penstock.gateway.http;

import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.penstock.gateway.api.ApiException;
import io.penstock.gateway.api.ApiJson;
import io.penstock.gateway.api.Shown;
import io.penstock.gateway.dialect.EngineAddress;
import io.penstock.gateway.instance.Instance;
import io.penstock.gateway.instance.InstanceRole;
import io.penstock.gateway.instance.Instances;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// The endpoints of operators, on a port of their own.
///
/// | Request | Answer |
/// |---|---|
/// | `GET /health`, `GET /metrics` | for probes and Prometheus, without the token |
/// | `GET /gateways` | this gateway and those that it shares quotas with |
/// | `GET /instances` | all instances |
/// | `POST /instances` | adds one: `{"role": "decode", "url": "http://…", "name": "d7"}` |
/// | `POST /instances/NAME/drain`, `…/resume` | no new requests for it, or requests again |
/// | `DELETE /instances/NAME?wait=30` | removes it; answers when its requests have ended, or 202 after `wait` seconds |
public final class AdminRoutes {
  private static final int MAX_BODY = 64 << 10;
  private static final int MAX_WAIT = 3600;
  private static final Duration BODY_TIME = Duration.ofSeconds(10);
  private static final String INSTANCES = "/instances";
  private static final String GATEWAYS = "/gateways";
  /// Seconds that a removal waits for requests, unless it says otherwise.
  private static final String WAIT = "30";
  private static final String REMOVING = "removing";
  private static final List<String> FIELDS = List.of("role", "url", "name");

  private final ApiRoutes api;
  private final Instances instances;
  private final PrometheusMeterRegistry registry;
  private final @Nullable String token;
  private final Scheduler timer;

  /// @param token that operators show; null if instances cannot be changed
  public AdminRoutes(ApiRoutes api, Instances instances, PrometheusMeterRegistry registry, @Nullable String token,
      Scheduler timer) {
    this.api = api;
    this.instances = instances;
    this.registry = registry;
    this.token = token;
    this.timer = timer;
  }

  Publisher<Void> handle(HttpServerRequest request, HttpServerResponse response) {
    QueryStringDecoder target = new QueryStringDecoder(request.uri());
    return switch (target.path()) {
      case "/health" -> api.health(response);
      case "/metrics" -> response.header(HttpHeaderNames.CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")
          .sendByteArray(Mono.fromSupplier(() -> registry.scrape().getBytes(StandardCharsets.UTF_8))).then();
      default -> Mono.defer(() -> changed(target, request, response))
          .onErrorMap(IllegalArgumentException.class, e -> new ApiException(400, String.valueOf(e.getMessage())))
          .onErrorResume(ApiException.class, refusal -> ApiRoutes.json(response, refusal.status(),
              ApiJson.object().put("error", refusal.getMessage())));
    };
  }

  private Mono<Void> changed(QueryStringDecoder target, HttpServerRequest request, HttpServerResponse response) {
    String path = target.path();
    HttpMethod method = request.method();
    if (path.equals(GATEWAYS)) {
      requireToken(request);
      requireMethod(method, HttpMethod.GET);
      return ApiRoutes.json(response, 200, gateways());
    }
    if (!path.equals(INSTANCES) && !path.startsWith(INSTANCES + "/")) {
      throw new ApiException(404,
          "path must be /health, /metrics, /gateways or /instances (was %s)".formatted(Shown.of(path)));
    }
    requireToken(request);
    if (path.equals(INSTANCES)) {
      if (method.equals(HttpMethod.GET)) {
        return ApiRoutes.json(response, 200, list());
      }
      requireMethod(method, HttpMethod.POST);
      return Reading.json(request, MAX_BODY, BODY_TIME, timer).map(ApiJson::request)
          .flatMap(body -> ApiRoutes.json(response, 201, shown(add(body))));
    }
    String[] words = path.substring(INSTANCES.length() + 1).split("/", -1);
    String name = words[0];
    if (!has(instances.all(), name) && !(words.length == 1 && has(instances.leaving(), name))) {
      throw new ApiException(404, "name must be that of an instance (was %s)".formatted(Shown.of(name)));
    }
    if (words.length == 1) {
      requireMethod(method, HttpMethod.DELETE);
      return remove(name, target, response);
    }
    requireMethod(method, HttpMethod.POST);
    if (words.length != 2 || !List.of("drain", "resume").contains(words[1])) {
      throw new ApiException(404,
          "verb must be drain or resume (was %s)"
              .formatted(Shown.of(path.substring(path.indexOf('/', INSTANCES.length() + 1) + 1))));
    }
    instances.drain(name, words[1].equals("drain"));
    return ApiRoutes.json(response, 200, list());
  }

  private static boolean has(List<Instance> among, String name) {
    return among.stream().anyMatch(instance -> instance.name().equals(name));
  }

  private Mono<Void> remove(String name, QueryStringDecoder target, HttpServerResponse response) {
    List<String> wait = target.parameters().getOrDefault("wait", List.of(WAIT));
    if (!wait.getFirst().matches("[0-9]{1,4}") || Integer.parseInt(wait.getFirst()) > MAX_WAIT) {
      throw new ApiException(400, "wait must be from 0 to %d seconds (was %s)".formatted(MAX_WAIT,
          Shown.of(wait.getFirst())));
    }
    Duration limit = Duration.ofSeconds(Integer.parseInt(wait.getFirst()));
    Mono<Integer> removed = instances.remove(name).thenReturn(200);
    return removed.timeout(limit, Mono.just(202), timer)
        .flatMap(status -> ApiRoutes.json(response, status,
            ApiJson.object().put("name", name).put("state", status == 200 ? "removed" : REMOVING)));
  }

  private Instance add(ObjectNode body) {
    for (String field : body.propertyNames()) {
      if (!FIELDS.contains(field)) {
        throw new IllegalArgumentException(
            "fields must be some of %s (was %s)".formatted(String.join(", ", FIELDS), Shown.of(field)));
      }
    }
    JsonNode url = body.path("url");
    if (!url.isString()) {
      throw ApiException.field("url", "the http or https URL of an engine", url);
    }
    EngineAddress address = EngineAddress.parse(url.asString());
    JsonNode given = body.path("name");
    String name = given.isMissingNode() ? nameOf(address) : given.asString("");
    if (!name.matches("[A-Za-z0-9._:\\[\\]-]{1,128}")) {
      throw ApiException.field("name", "1 to 128 letters, digits and .:_-", given);
    }
    InstanceRole role = role(body.path("role"));
    if (has(instances.all(), name)) {
      throw new ApiException(409, "name of an instance must be new (was %s)".formatted(Shown.of(name)));
    }
    return instances.add(name, role, address);
  }

  private static InstanceRole role(JsonNode word) {
    return switch (word.asString("")) {
      case "prefill" -> InstanceRole.PREFILL;
      case "decode" -> InstanceRole.DECODE;
      case "both" -> InstanceRole.BOTH;
      default -> throw ApiException.field("role", "prefill, decode or both", word);
    };
  }

  /// The name of an instance that was given none.
  public static String nameOf(EngineAddress address) {
    return address.url().getAuthority();
  }

  private ObjectNode list() {
    ObjectNode list = ApiJson.object();
    ArrayNode all = list.putArray("instances");
    instances.all().forEach(instance -> all.add(shown(instance)));
    instances.leaving().forEach(instance -> all.add(shown(instance).put("state", REMOVING)));
    return list;
  }

  private ObjectNode gateways() {
    ObjectNode list = ApiJson.object();
    ArrayNode all = list.putArray("gateways");
    QuotaShare quotas = api.shared();
    if (quotas == null) {
      return list.put("quotas", "own");
    }
    all.addObject().put("name", quotas.name()).put("self", true);
    quotas.others().forEach(each -> {
      ArrayNode tenants = all.addObject().put("name", each.gateway()).put("url", each.url()).put("self", false)
          .putArray("tenants");
      each.tenants().forEach(use -> tenants.addObject().put("name", use.name()).put("requests", use.requests())
          .put("tokens", use.tokens()).put("running", use.running()));
    });
    return list.put("quotas", quotas.isShared() ? "shared" : "own");
  }

  private static ObjectNode shown(Instance instance) {
    return ApiJson.object().put("name", instance.name())
        .put("role", instance.role().name().toLowerCase(Locale.ROOT)).put("url", instance.address().toString())
        .put("state", instance.state()).put("requests", instance.requests());
  }

  private static void requireMethod(HttpMethod was, HttpMethod allowed) {
    if (!was.equals(allowed)) {
      throw new ApiException(405, "method must be %s (was %s)".formatted(allowed, Shown.of(was.name())));
    }
  }

  private void requireToken(HttpServerRequest request) {
    if (token == null) {
      throw new ApiException(403, "admin.token.file must be given to see or change instances (was not)");
    }
    String shown = request.requestHeaders().get(HttpHeaderNames.AUTHORIZATION, "");
    boolean same = MessageDigest.isEqual(("Bearer " + token).getBytes(StandardCharsets.UTF_8),
        shown.getBytes(StandardCharsets.UTF_8));
    if (!same) {
      throw new ApiException(401, "authorization must be Bearer with the token of the administration (was not)");
    }
  }
}
