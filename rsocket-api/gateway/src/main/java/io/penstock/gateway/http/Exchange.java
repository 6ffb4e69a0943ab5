package io.penstock.gateway.http;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.penstock.gateway.api.AnswerWriter;
import io.penstock.gateway.api.ApiErrors;
import io.penstock.gateway.api.ApiException;
import io.penstock.gateway.api.ApiForm;
import io.penstock.gateway.api.ApiJson;
import io.penstock.gateway.api.ChatRequests;
import io.penstock.gateway.api.ClientFields;
import io.penstock.gateway.api.Models;
import io.penstock.gateway.api.Shown;
import io.penstock.gateway.api.TokenCounts;
import io.penstock.gateway.dialect.AnswerEvent;
import io.penstock.gateway.dialect.LegFailure;
import io.penstock.gateway.dialect.RequestFailure;
import io.penstock.gateway.relay.OwnForm;
import io.penstock.gateway.relay.RelayRequest;
import io.penstock.gateway.relay.RelayTrace;
import io.penstock.operator.InTurn;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// One request of a client and its answer.
final class Exchange {
  static final String REQUEST_ID = "X-Request-Id";
  private static final Logger ACCESS = LoggerFactory.getLogger("io.penstock.gateway.access");
  private static final Logger LOG = LoggerFactory.getLogger(Exchange.class);
  private static final String PARENT = "traceparent";
  private static final String PARENT_FORM = "[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}";
  private static final String STATE = "tracestate";
  private static final String STATE_FORM = "[\\x20-\\x7e]{1,512}";
  private static final String MESSAGES_VERSION = "anthropic-version";
  private static final String UNKNOWN = "-";
  /// An address, or what the system says of a connection.
  private static final Pattern MACHINE =
      Pattern.compile("://|\\d{1,3}(\\.\\d{1,3}){3}|\\w:\\d{2,5}\\b|(?i)connection (refused|reset)");
  private static final int OK = 200;
  private static final int INTERNAL = 500;
  private static final int BAD_GATEWAY = 502;
  private static final int WENT = 499;
  private static final int NOT_IMPLEMENTED = 501;
  private static final int UNAVAILABLE = 503;
  private static final int CHARS_PER_TOKEN = 4;
  private static final int OFF_LOOP = 64 << 10;

  private final ApiRoutes routes;
  private final HttpServerRequest request;
  private final HttpServerResponse response;
  private final ApiForm form;
  /// The form of errors.
  private final ApiForm errors;
  private final boolean isKnown;
  private final String id;
  private final RelayTrace trace = new RelayTrace();
  private final long start;
  private int status = OK;
  private @Nullable Tenant tenant;
  /// What an engine is asked.
  private ObjectNode asked = ApiJson.object();
  private boolean counted;
  private boolean streams;
  private long bytes;

  /// @param form null if the path is none; then errors have OpenAI's form
  Exchange(ApiRoutes routes, HttpServerRequest request, HttpServerResponse response, @Nullable ApiForm form) {
    this.routes = routes;
    this.request = request;
    this.response = response;
    this.form = form == null ? ApiForm.CHAT : form;
    this.isKnown = form != null;
    this.errors = isOfMessages(request, form) ? ApiForm.MESSAGES : this.form;
    this.start = routes.timer().now(TimeUnit.NANOSECONDS);
    String given = request.requestHeaders().get(REQUEST_ID, "");
    this.id = given.matches("[A-Za-z0-9._-]{1,64}") ? given : routes.newId();
  }

  /// Clients of messages name their version with every request, also with those for models and for unknown paths.
  private static boolean isOfMessages(HttpServerRequest request, @Nullable ApiForm form) {
    return form == ApiForm.MESSAGES
        || ((form == null || form == ApiForm.MODELS) && request.requestHeaders().contains(MESSAGES_VERSION));
  }

  Mono<Void> run() {
    response.header(REQUEST_ID, id);
    if (errors == ApiForm.MESSAGES) {
      response.header("request-id", id);
    }
    return Mono.defer(this::answer)
        .onErrorResume(failure -> response.hasSentHeaders() ? Mono.error(failure) : refuse(failure))
        .doFinally(this::ended);
  }

  private Mono<Void> answer() {
    if (!isKnown) {
      throw new ApiException(404,
          "path must be that of an endpoint (was %s)".formatted(Shown.of(RequestPath.of(request.uri()))));
    }
    requireMethod();
    return routes.keys().tenant(request.requestHeaders(), request.remoteAddress()).flatMap(known -> {
      Quota quota = routes.keys().quota(known);
      tenant = known;
      return switch (form) {
        case MODELS -> models();
        case SESSIONS -> session(known, quota);
        default -> {
          known.begin(quota, routes.timer().now(TimeUnit.NANOSECONDS));
          counted = true;
          yield generate(quota);
        }
      };
    });
  }

  private void requireMethod() {
    HttpMethod method = request.method();
    boolean isAllowed = form == ApiForm.MODELS
        ? method.equals(HttpMethod.GET) || method.equals(HttpMethod.HEAD)
        : method.equals(HttpMethod.POST);
    if (!isAllowed) {
      String allowed = form == ApiForm.MODELS ? "GET, HEAD" : "POST";
      response.header(HttpHeaderNames.ALLOW, allowed);
      throw new ApiException(405, "method must be %s (was %s)".formatted(allowed, Shown.of(method.name())));
    }
  }

  private Mono<Void> models() {
    Map<String, JsonNode> all = routes.models();
    if (all.isEmpty()) {
      throw new ApiException(503, "no instance names its models now: " + routes.whyNone());
    }
    boolean isOpenAi = errors != ApiForm.MESSAGES;
    String path = RequestPath.of(request.uri());
    if (path.equals(ApiForm.MODELS.path())) {
      return json(OK, isOpenAi ? Models.list(all) : Models.messagesList(all));
    }
    String name = RequestPath.behind(ApiForm.MODELS.path(), path);
    JsonNode model = all.get(name);
    if (model == null) {
      throw ApiException.of(404, "model must be one of /v1/models (was %s)".formatted(Shown.of(name)), "model");
    }
    return json(OK, isOpenAi ? model : Models.messagesModel(name, model));
  }

  /// Tells the pool the state of a session of this tenant.
  private Mono<Void> session(Tenant known, Quota quota) {
    SessionPool pool = routes.sessions();
    if (pool == null) {
      throw new ApiException(NOT_IMPLEMENTED, "pool must be given to the gateway for sessions (was not)");
    }
    String name = SessionRequest.name(RequestPath.of(request.uri()));
    HttpOptions options = routes.options();
    return Reading.json(request, options.bodyBytes(), options.bodyTime(), routes.timer()).map(ApiJson::request)
        .map(body -> SessionRequest.of(name, poolName(known, name), body, quota.priority()))
        .flatMap(told -> pool.state(told.use(), told.state())
            .onErrorMap(failure -> !(failure instanceof ApiException), failure -> {
              LOG.warn("session of request {} did not reach the pool: {}", id, failure.getMessage());
              return new ApiException(UNAVAILABLE, "the pool does not answer now");
            })
            .flatMap(spaces -> json(OK, told.answer(spaces))));
  }

  private String poolName(Tenant known, String given) {
    return SessionNames.inPool(routes.keys().isOpen() ? null : known.name(), given);
  }

  private Mono<Void> generate(Quota quota) {
    HttpOptions options = routes.options();
    return Reading.json(request, options.bodyBytes(), options.bodyTime(), routes.timer())
        .flatMap(read -> {
          bytes = read.length;
          routes.relay().requireRoom(priority(request.requestHeaders(), quota));
          Mono<ObjectNode> tree = Mono.fromCallable(() -> ApiJson.request(read));
          return (read.length > OFF_LOOP ? tree.subscribeOn(routes.work()) : tree)
              .flatMap(body -> relayed(body, quota));
        });
  }

  private Mono<Void> relayed(ObjectNode body, Quota quota) {
    OwnForm own = routes.relay().asksIn(form) ? OwnForm.of(form, body) : null;
    ObjectNode chat = own == null ? ChatRequests.of(form, body) : own.chat();
    asked = chat;
    HttpHeaders headers = request.requestHeaders();
    int priority = priority(headers, quota);
    RelayRequest relayed = new RelayRequest(form.enginePath(), chat, id, passed(headers, body, priority), bytes,
        priority, session(headers, body), own);
    boolean isStream = chat.path("stream").asBoolean(false);
    return routes.relay().answer(relayed, trace).<Void>switchOnFirst((first, events) -> {
      Throwable failure = first.getThrowable();
      if (failure != null) {
        return Mono.error(failure);
      }
      AnswerWriter writer =
          trace.isOwn()
              ? AnswerWriter.own(form, id)
              : AnswerWriter.of(form, body, id, routes.epochSecond(), trace.counts());
      return isStream
          ? stream(events, writer)
          : events.ofType(AnswerEvent.Whole.class).singleOrEmpty()
              .flatMap(whole -> json(OK, writer.whole(whole.body())));
    }).then();
  }

  private Mono<Void> stream(Flux<AnswerEvent> events, AnswerWriter writer) {
    streams = true;
    StringBuilder text = new StringBuilder();
    Flux<ByteBuf> bytes = InTurn.of(events.<ByteBuf>handle((event, sink) -> {
      if (event instanceof AnswerEvent.Chunk chunk) {
        text.setLength(0);
        writer.chunk(chunk.read(), text);
        if (!text.isEmpty()) {
          sink.next(bytes(text));
        }
      }
    }), Mono.fromSupplier(() -> {
      text.setLength(0);
      writer.end(text);
      return bytes(text);
    }).flux()).onErrorResume(failure -> {
      ApiException named = named(failure);
      status = named.status();
      text.setLength(0);
      writer.fail(named.status(), String.valueOf(named.getMessage()), text);
      return Mono.just(bytes(text));
    }).doOnCancel(() -> status = WENT); // what is sent completes then, as if it was whole
    response.status(OK).header(HttpHeaderNames.CONTENT_TYPE, "text/event-stream; charset=utf-8")
        .header(HttpHeaderNames.CACHE_CONTROL, "no-cache").header("X-Accel-Buffering", "no");
    return response.send(bytes).then(); // flushed when the event loop has no more of it
  }

  private ByteBuf bytes(CharSequence text) {
    byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8); // faster than a copy char by char
    return response.alloc().buffer(bytes.length).writeBytes(bytes);
  }

  private Mono<Void> json(int code, JsonNode body) {
    status = code;
    return response.status(code).header(HttpHeaderNames.CONTENT_TYPE, "application/json")
        .sendByteArray(Mono.just(ApiJson.text(body).getBytes(StandardCharsets.UTF_8))).then();
  }

  private Mono<Void> refuse(Throwable failure) {
    ApiException named = named(failure);
    Duration wait = named.retryAfter();
    if (wait != null) {
      response.header(HttpHeaderNames.RETRY_AFTER, String.valueOf(Math.max(1, wait.toSeconds())));
    } else if (named.status() == 429 || named.status() == 503) {
      response.header(HttpHeaderNames.RETRY_AFTER, "1");
    }
    if (named.status() == 401) {
      response.header(HttpHeaderNames.WWW_AUTHENTICATE, "Bearer");
    }
    if (List.of(408, 413, 415).contains(named.status())) {
      response.keepAlive(false); // the rest of the body is not read
    }
    return json(named.status(), ApiErrors.body(errors, named.status(), String.valueOf(named.getMessage()),
        named.param(), id));
  }

  private ApiException named(Throwable failure) {
    return switch (failure) {
      case ApiException known -> known;
      case LegFailure leg -> {
        LOG.info("request {} failed: {}, {}", id, leg.getMessage(), leg.body());
        yield named(leg);
      }
      case RequestFailure known -> {
        LOG.info("request {} was not sent: {}", id, known.getMessage());
        yield ApiException.of(known.status(), known.told(), known.param());
      }
      default -> {
        LOG.error("request {} failed by a mistake of the gateway", id, failure);
        yield new ApiException(INTERNAL, "the gateway made a mistake");
      }
    };
  }

  /// What an engine says is for the client, unless it failed and names machines: that is for operators.
  private ApiException named(LegFailure leg) {
    int code = leg.clientStatus();
    String message = ApiErrors.messageOf(leg.body(), leg.told());
    if (code == BAD_GATEWAY && MACHINE.matcher(message).find()) {
      return new ApiException(code, leg.told());
    }
    String param = code < INTERNAL ? ApiErrors.paramOf(leg.body(), asked) : null;
    return trace.isOwn()
        ? ApiException.of(code, message, param)
        : ApiException.of(code, ClientFields.message(form, message), ClientFields.param(form, param));
  }

  private Map<String, String> passed(HttpHeaders headers, ObjectNode body, int priority) {
    Map<String, String> passed = passed(headers);
    String session = given(headers, body);
    Tenant known = tenant;
    Duration keep = SessionNames.keep(headers);
    if (!session.isEmpty() && known != null) {
      SessionNames.add(poolName(known, session), priority, keep, passed);
    }
    return passed;
  }

  /// The headers that go with every leg. A state without a valid parent means nothing; several states are one.
  static Map<String, String> passed(HttpHeaders headers) {
    Map<String, String> passed = new HashMap<>();
    String parent = headers.get(PARENT);
    if (parent != null && parent.matches(PARENT_FORM)) {
      passed.put(PARENT, parent);
      String state = String.join(",", headers.getAll(STATE));
      if (state.matches(STATE_FORM)) {
        passed.put(STATE, state);
      }
    }
    return passed;
  }

  /// A request may lower the priority of its tenant, and not raise it.
  static int priority(HttpHeaders headers, Quota quota) {
    String given = headers.get(SessionNames.PRIORITY);
    if (given == null) {
      return quota.priority();
    }
    if (!given.matches("[0-7]")) {
      throw ApiException.header(SessionNames.PRIORITY, "from 0 to 7", given);
    }
    return Math.min(Integer.parseInt(given), quota.priority());
  }

  private @Nullable String session(HttpHeaders headers, ObjectNode body) {
    String given = given(headers, body);
    Tenant known = tenant;
    return given.isEmpty() || known == null ? null : known.name() + "/" + given;
  }

  /// The session that the client named; empty for none.
  private static String given(HttpHeaders headers, ObjectNode body) {
    String given = headers.get(SessionNames.ID, body.path("prompt_cache_key").asString(""));
    return given.length() > SessionNames.MAX_CHARS ? "" : given;
  }

  /// Tokens that the tenant is charged. Where no engine counted them all, because the answer did not come to its end,
  /// they are estimated: some engines name those of the prompt at the beginning.
  static long used(TokenCounts counts, long events, long bytes, boolean isWhole) {
    if (counts.prompt() > 0) {
      boolean isCounted = isWhole && counts.completion() > 0;
      return counts.prompt() + (isCounted ? counts.completion() : Math.max(counts.completion(), events));
    }
    return events > 0 ? bytes / CHARS_PER_TOKEN + events : 0;
  }

  private void ended(SignalType signal) {
    // The server may cancel what has written a whole body
    if (signal == SignalType.CANCEL && (streams || !response.hasSentHeaders())) {
      status = WENT;
    }
    if (signal == SignalType.ON_ERROR && status == OK) { // failures of engines have their status: it is the connection
      status = WENT;
    }
    Duration time = Duration.ofNanos(routes.timer().now(TimeUnit.NANOSECONDS) - start);
    Tenant known = tenant;
    if (counted && known != null) {
      known.end(used(trace.counts(), trace.events(), bytes, status == OK));
    }
    routes.meters().ended(isKnown ? form : null, status, trace, time);
    ACCESS.info(
        "{} {} {} {} ms, first {} ms, tokens {}+{}, cached {}, at {}, attempts {}, resumes {}, tenant {}, id {}",
        request.method().name(), isKnown ? form.path() : UNKNOWN, status, time.toMillis(),
        trace.firstNanos() < 0 ? UNKNOWN : TimeUnit.NANOSECONDS.toMillis(trace.firstNanos()), trace.counts().prompt(),
        trace.counts().completion(), trace.counts().cached() < 0 ? UNKNOWN : trace.counts().cached(), trace.places(),
        trace.attempts(), trace.resumes(),
        known == null ? UNKNOWN : known.name(), id);
  }
}
