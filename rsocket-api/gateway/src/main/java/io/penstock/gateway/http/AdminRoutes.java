package io.penstock.gateway.http;

import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.penstock.gateway.api.ApiException;
import io.penstock.gateway.api.ApiJson;
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
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// The endpoints of operators, on a port of their own.
///
/// | Request | Answer |
/// |---|---|
/// | `GET /health`, `GET /metrics` | for probes and Prometheus, without the token |
/// | `GET /instances` | all instances |
/// | `POST /instances` | adds one: `{"role": "decode", "url": "http://…", "name": "d7"}` |
/// | `POST /instances/NAME/drain`, `…/resume` | no new requests for it, or requests again |
/// | `DELETE /instances/NAME?wait=30` | removes it; answers when its requests have ended, or 202 after `wait` seconds |
public final class AdminRoutes {
  private static final int MAX_BODY = 64 << 10;
  private static final int MAX_WAIT = 3600;
  private static final Duration BODY_TIME = Duration.ofSeconds(10);
  private static final String INSTANCES = "/instances";

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
      case "/health" -> ApiRoutes.json(response, instances.answering() > 0 ? 200 : 503, api.health());
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
    if (!path.equals(INSTANCES) && !path.startsWith(INSTANCES + "/")) {
      throw new ApiException(404, "path must be /health, /metrics or /instances (was another)");
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
    if (instances.all().stream().noneMatch(instance -> instance.name().equals(name))) {
      throw new ApiException(404, "name must be that of an instance (was another)");
    }
    if (words.length == 1) {
      requireMethod(method, HttpMethod.DELETE);
      return remove(name, target, response);
    }
    requireMethod(method, HttpMethod.POST);
    if (words.length != 2 || !List.of("drain", "resume").contains(words[1])) {
      throw new ApiException(404, "verb must be drain or resume (was another)");
    }
    instances.drain(name, words[1].equals("drain"));
    return ApiRoutes.json(response, 200, list());
  }

  private Mono<Void> remove(String name, QueryStringDecoder target, HttpServerResponse response) {
    List<String> wait = target.parameters().getOrDefault("wait", List.of("30"));
    if (!wait.getFirst().matches("[0-9]{1,4}") || Integer.parseInt(wait.getFirst()) > MAX_WAIT) {
      throw new ApiException(400, "wait must be from 0 to " + MAX_WAIT + " seconds (was another)");
    }
    Duration limit = Duration.ofSeconds(Integer.parseInt(wait.getFirst()));
    Mono<Integer> removed = instances.remove(name).thenReturn(200);
    return removed.timeout(limit, Mono.just(202), timer)
        .flatMap(status -> ApiRoutes.json(response, status,
            ApiJson.object().put("name", name).put("state", status == 200 ? "removed" : "requests still run there")));
  }

  private Instance add(ObjectNode body) {
    String role = body.path("role").asString("");
    String url = body.path("url").asString("");
    EngineAddress address = EngineAddress.parse(url);
    String name = body.path("name").asString(nameOf(address));
    if (!name.matches("[A-Za-z0-9._:\\[\\]-]{1,128}")) {
      throw new IllegalArgumentException("name must be letters, digits and .:_- (was another)");
    }
    return instances.add(name, role(role), address);
  }

  private static InstanceRole role(String word) {
    return switch (word) {
      case "prefill" -> InstanceRole.PREFILL;
      case "decode" -> InstanceRole.DECODE;
      case "both" -> InstanceRole.BOTH;
      default -> throw new IllegalArgumentException("role must be prefill, decode or both (was " + word + ")");
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
    return list;
  }

  private static ObjectNode shown(Instance instance) {
    return ApiJson.object().put("name", instance.name())
        .put("role", instance.role().name().toLowerCase(Locale.ROOT)).put("url", instance.address().toString())
        .put("state", instance.state()).put("requests", instance.requests());
  }

  private static void requireMethod(HttpMethod was, HttpMethod allowed) {
    if (!was.equals(allowed)) {
      throw new ApiException(405, "method must be " + allowed + " (was another)");
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
