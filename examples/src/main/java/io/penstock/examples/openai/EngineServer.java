package io.penstock.examples.openai;

import static io.netty.handler.codec.http.HttpResponseStatus.METHOD_NOT_ALLOWED;
import static io.netty.handler.codec.http.HttpResponseStatus.NOT_FOUND;
import static io.netty.handler.codec.http.HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE;
import static io.netty.handler.codec.http.HttpResponseStatus.SERVICE_UNAVAILABLE;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GenericFutureListener;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.FutureMono;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;
import reactor.netty.resources.LoopResources;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// An OpenAI endpoint in front of an [Engine]: `/v1/completions`, `/v1/chat/completions`, `/v1/models`, `/tokenize`,
/// `/detokenize`, `/health` and `/metrics`. Requests wait in a bounded queue for a slot of the engine. A client that
/// goes takes its request with it.
public final class EngineServer {
  private static final Logger LOG = LoggerFactory.getLogger(EngineServer.class);
  private static final Set<String> READ = Set.of("/v1/models", "/health", "/metrics");
  private static final Set<String> POSTED =
      Set.of("/v1/completions", "/v1/chat/completions", "/tokenize", "/detokenize");
  private static final String JSON = "application/json";
  private static final String RETRY_SECONDS = "1";
  private static final Duration LOOK = Duration.ofMillis(50);
  private static final Duration QUIET = Duration.ZERO;
  private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(5);

  private final JsonMapper json = JsonMapper.shared();
  private final Engine engine;
  private final EngineServerOptions options;
  private final EngineSlots slots;
  private final RequestReader reader;
  private final Clock clock;

  private EngineServer(Engine engine, EngineServerOptions options, Clock clock) {
    this.engine = engine;
    this.options = options;
    this.slots = new EngineSlots(engine, options);
    this.reader = new RequestReader(engine, json);
    this.clock = clock;
  }

  /// A server that listens.
  public static final class Running {
    private final DisposableServer server;
    private final LoopResources loops;
    private final EngineSlots slots;
    private final ChannelGroup connections;

    private Running(DisposableServer server, LoopResources loops, EngineSlots slots, ChannelGroup connections) {
      this.server = server;
      this.loops = loops;
      this.slots = slots;
      this.connections = connections;
    }

    /// Where it listens, as `host:port`.
    public String address() {
      InetSocketAddress address = (InetSocketAddress) server.address();
      String host = address.getAddress().getHostAddress();
      return (host.contains(":") ? "[" + host + "]" : host) + ":" + address.getPort();
    }

    /// Completes when no request runs or waits.
    ///
    /// @param least how long requests may still come before that
    public Mono<Void> idle(Duration least) {
      return Flux.interval(least, LOOK).onBackpressureDrop()
          .filter(tick -> slots.running() + slots.waiting() == 0).next().then();
    }

    /// Stops to listen, and ends all requests and connections. Loops that end leave sockets open, at which clients
    /// would wait for answers. Idempotent.
    public Mono<Void> close() {
      return Mono.defer(() -> {
        slots.close();
        server.dispose();
        return server.onDispose().then(FutureMono.from(connections.close()))
            .then(loops.disposeLater(QUIET, CLOSE_PATIENCE));
      });
    }
  }

  /// Starts to listen.
  ///
  /// @param clock tells when an answer was made
  /// @return cold; fails with the error of the bind
  public static Mono<Running> start(Engine engine, EngineServerOptions options, Clock clock) {
    return Mono.defer(() -> {
      LoopResources loops = LoopResources.create("engine-http", 1, true);
      EngineServer server = new EngineServer(engine, options, clock);
      ChannelGroup connections = new DefaultChannelGroup(ImmediateEventExecutor.INSTANCE, true);
      return HttpServer.create().runOn(loops).host(options.host()).port(options.port())
          .doOnConnection(connection -> connections.add(connection.channel())).handle(server::handle)
          .bind().<Running>map(bound -> new Running(bound, loops, server.slots, connections)).doOnError(error -> {
            server.slots.close();
            loops.dispose();
          });
    });
  }

  private Publisher<Void> handle(HttpServerRequest request, HttpServerResponse response) {
    String path = request.fullPath();
    return Flux.<Void>defer(() -> {
      if (POSTED.contains(path)) {
        require(request, HttpMethod.POST);
        return body(request).flatMapMany(body -> posted(path, request, response, body));
      }
      if (READ.contains(path)) {
        require(request, HttpMethod.GET);
        return read(path, response);
      }
      throw new ApiException(NOT_FOUND, "There is no " + path + " here.");
    }).onErrorResume(error -> refuse(response, ApiException.of(error)));
  }

  private static void require(HttpServerRequest request, HttpMethod method) {
    if (!request.method().equals(method)) {
      throw new ApiException(METHOD_NOT_ALLOWED, "method must be " + method + " (was " + request.method() + ")");
    }
  }

  private Mono<byte[]> body(HttpServerRequest request) {
    BoundedBody body = new BoundedBody(options.maxBodyBytes());
    return request.receive().doOnNext(part -> {
      if (!body.add(part)) {
        throw new ApiException(REQUEST_ENTITY_TOO_LARGE,
            "body must have at most %d bytes".formatted(options.maxBodyBytes()));
      }
    }).then(Mono.fromSupplier(body::bytes));
  }

  private Publisher<Void> read(String path, HttpServerResponse response) {
    return switch (path) {
      case "/v1/models" -> answer(response, json.writeValueAsBytes(models()));
      case "/metrics" -> response.header(HttpHeaderNames.CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")
          .sendString(Mono.just(EngineMetrics.text(engine, slots)));
      default -> response.send();
    };
  }

  private ObjectNode models() {
    ObjectNode root = json.createObjectNode().put("object", "list");
    root.putArray("data").addObject().put("id", engine.model()).put("object", "model")
        .put("created", clock.instant().getEpochSecond()).put("owned_by", "penstock")
        .put("max_model_len", engine.maxTokens());
    return root;
  }

  private Publisher<Void> posted(String path, HttpServerRequest request, HttpServerResponse response, byte[] body) {
    return switch (path) {
      case "/tokenize" -> {
        int[] tokens = reader.tokenized(body);
        ObjectNode root = json.createObjectNode().put("count", tokens.length).put("max_model_len", engine.maxTokens());
        root.set("tokens", json.valueToTree(tokens));
        yield answer(response, json.writeValueAsBytes(root));
      }
      case "/detokenize" -> {
        AnswerText text = new AnswerText(List.of());
        StringBuilder prompt = new StringBuilder();
        for (int token : reader.tokens(body)) {
          prompt.append(text.add(engine.bytes(token)));
        }
        yield answer(response,
            json.writeValueAsBytes(json.createObjectNode().put("prompt", prompt.append(text.end()).toString())));
      }
      default -> generate(reader.read(path.contains("chat") ? AnswerForm.CHAT : AnswerForm.COMPLETION, id(request),
          SessionHeaders.of(request.requestHeaders()), body), response);
    };
  }

  private static String id(HttpServerRequest request) {
    String id = request.requestHeaders().get("X-Request-Id");
    return id == null || id.isBlank() ? UUID.randomUUID().toString().replace("-", "") : id;
  }

  private Publisher<Void> generate(GenerationRequest request, HttpServerResponse response) {
    Answer answer = new Answer(engine, request);
    AnswerJson writer = new AnswerJson(json, engine.model(), request, answer, clock.instant().getEpochSecond());
    Flux<Answer.Part> parts = answer.parts(slots.generate(request.request())).takeUntilOther(gone(response));
    if (request.stream()) {
      return parts.switchOnFirst((first, rest) -> first.isOnError()
          ? rest.then().cast(Void.class)
          : stream(rest, writer, response));
    }
    return parts.doOnNext(writer::add).last()
        .flatMap(last -> last instanceof Answer.Part.End end
            ? Mono.from(answer(response, writer.whole(end.result())))
            : Mono.empty());
  }

  private Publisher<Void> stream(Flux<Answer.Part> parts, AnswerJson writer, HttpServerResponse response) {
    Flux<byte[]> events = parts.map(writer::events).filter(event -> event.length > 0)
        .onErrorResume(error -> Mono.just(AnswerJson.failed(json, ApiException.of(error))));
    return response.sse().header(HttpHeaderNames.CACHE_CONTROL, "no-cache")
        .send(events.map(Unpooled::wrappedBuffer), each -> true);
  }

  /// Completes when the client's connection is closed.
  private static Mono<Void> gone(HttpServerResponse response) {
    return Mono.create(sink -> response.withConnection(connection -> {
      Channel channel = connection.channel();
      GenericFutureListener<Future<Void>> listener = closed -> sink.success();
      channel.closeFuture().addListener(listener);
      sink.onDispose(() -> channel.closeFuture().removeListener(listener));
    }));
  }

  private Publisher<Void> answer(HttpServerResponse response, byte[] body) {
    return response.header(HttpHeaderNames.CONTENT_TYPE, JSON)
        .header(HttpHeaderNames.CONTENT_LENGTH, String.valueOf(body.length)).sendByteArray(Mono.just(body));
  }

  private Publisher<Void> refuse(HttpServerResponse response, ApiException error) {
    if (response.hasSentHeaders()) {
      LOG.debug("an answer ended early", error);
      return Mono.error(error);
    }
    if (error.status().equals(SERVICE_UNAVAILABLE)) {
      response.header(HttpHeaderNames.RETRY_AFTER, RETRY_SECONDS);
    }
    return answer(response.status(error.status()), json.writeValueAsBytes(AnswerJson.error(json, error)));
  }
}
