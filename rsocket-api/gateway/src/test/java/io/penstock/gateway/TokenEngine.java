package io.penstock.gateway;

import io.netty.buffer.Unpooled;
import io.penstock.gateway.api.ApiJson;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// An engine whose next token follows from all tokens before it, and which names its tokens as vLLM does.
final class TokenEngine implements AutoCloseable {
  private static final int WORDS = 997;
  private static final String REFUSAL = "{\"error\":{\"message\":\"refused by the engine\",\"code\":1}}";

  final List<ObjectNode> bodies = new CopyOnWriteArrayList<>();
  final Map<String, String> headers = new ConcurrentHashMap<>();
  final AtomicInteger running = new AtomicInteger();
  private final DisposableServer server;
  /// Tokens after which the connection breaks; -1 for never.
  volatile int diesAfter = -1;
  volatile int refusesWith;
  /// The body of its refusals.
  volatile String refusal = REFUSAL;
  volatile boolean tellsIds = true;
  /// Completes when the tokens after the first may come.
  volatile Mono<Void> gate = Mono.empty();
  private final Sinks.Many<Integer> changes = Sinks.many().replay().latest();

  TokenEngine() {
    server = HttpServer.create().host("127.0.0.1").port(0).handle(this::handle).bindNow();
  }

  String url() {
    return "http://127.0.0.1:" + server.port();
  }

  /// The text of `count` tokens after a prompt.
  static String text(String prompt, int count) {
    List<Integer> all = new ArrayList<>(prompt.chars().boxed().toList());
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < count; i++) {
      all.add(next(all));
      text.append(word(all.getLast()));
    }
    return text.toString();
  }

  /// Forgets what it was asked, and does nothing but answer.
  void renew() {
    bodies.clear();
    headers.clear();
    diesAfter = -1;
    refusesWith = 0;
    refusal = REFUSAL;
    tellsIds = true;
    gate = Mono.empty();
  }

  /// Completes when so many requests run.
  void awaitRunning(int number) {
    changes.asFlux().startWith(running.get()).filter(now -> now == number).next()
        .block(Duration.ofSeconds(5));
  }

  private static int next(List<Integer> tokens) {
    int hash = 7;
    for (int token : tokens) {
      hash = hash * 31 + token;
    }
    return Math.floorMod(hash, WORDS) + 1000;
  }

  private static String word(int token) {
    return " w" + token;
  }

  private Publisher<Void> handle(HttpServerRequest request, HttpServerResponse response) {
    if (request.uri().equals("/v1/models")) {
      return json(response, 200, "{\"object\":\"list\",\"data\":[{\"id\":\"m\",\"object\":\"model\"}]}");
    }
    request.requestHeaders().forEach(header -> headers.put(header.getKey().toLowerCase(Locale.ROOT),
        header.getValue()));
    return request.receive().aggregate().asString().flatMap(text -> {
      ObjectNode body = (ObjectNode) ApiJson.MAPPER.readTree(text);
      bodies.add(body);
      if (refusesWith != 0) {
        return json(response, refusesWith, refusal);
      }
      boolean chat = request.uri().equals("/v1/chat/completions");
      change(1);
      return answer(body, chat, response).doFinally(signal -> change(-1));
    });
  }

  private void change(int by) {
    changes.emitNext(running.addAndGet(by), Sinks.EmitFailureHandler.busyLooping(Duration.ofSeconds(1)));
  }

  private Mono<Void> answer(ObjectNode body, boolean chat, HttpServerResponse response) {
    List<Integer> prompt = new ArrayList<>();
    if (chat) {
      body.path("messages").forEach(message -> message.path("content").asString("").chars().forEach(prompt::add));
    } else if (body.path("prompt").isString()) {
      body.path("prompt").asString().chars().forEach(prompt::add);
    } else {
      body.path("prompt").forEach(id -> prompt.add(id.asInt()));
    }
    int count = body.path("max_tokens").asInt(8);
    List<Integer> all = new ArrayList<>(prompt);
    List<String> chunks = new ArrayList<>();
    StringBuilder whole = new StringBuilder();
    for (int i = 0; i < count; i++) {
      int token = next(all);
      all.add(token);
      whole.append(word(token));
      chunks.add(chunk(body, chat, prompt, token, i == 0, i == count - 1));
    }
    ObjectNode usage = ApiJson.object().put("prompt_tokens", prompt.size()).put("completion_tokens", count)
        .put("total_tokens", prompt.size() + count);
    usage.putObject("prompt_tokens_details").put("cached_tokens", 3);
    if (!body.path("stream").asBoolean(false)) {
      ObjectNode answer = named(chat, false);
      ObjectNode choice = answer.putArray("choices").addObject().put("index", 0).put("finish_reason", "length");
      if (chat) {
        choice.putObject("message").put("role", "assistant").put("content", whole.toString());
      } else {
        choice.put("text", whole.toString());
      }
      answer.set("usage", usage);
      return gate.then(json(response, 200, ApiJson.text(answer)));
    }
    ObjectNode last = named(chat, true);
    last.putArray("choices");
    last.set("usage", usage);
    chunks.add(ApiJson.text(last));
    chunks.add("[DONE]");
    int death = diesAfter;
    Flux<String> lines = Flux.fromIterable(death >= 0 ? chunks.subList(0, Math.min(death, chunks.size())) : chunks);
    Flux<String> paced = lines.take(1).concatWith(gate.thenMany(lines.skip(1)));
    Flux<String> ended = death >= 0 ? paced.concatWith(Mono.error(new IllegalStateException("dies"))) : paced;
    return response.status(200).header("Content-Type", "text/event-stream").send(ended.map(
        line -> Unpooled.copiedBuffer("data: " + line + "\n\n", StandardCharsets.UTF_8)), each -> true).then();
  }

  private String chunk(JsonNode body, boolean chat, List<Integer> prompt, int token, boolean first, boolean last) {
    ObjectNode chunk = named(chat, true);
    ObjectNode choice = chunk.putArray("choices").addObject().put("index", 0);
    if (chat) {
      choice.putObject("delta").put("content", word(token));
    } else {
      choice.put("text", word(token));
    }
    if (last) {
      choice.put("finish_reason", "length");
    } else {
      choice.putNull("finish_reason");
    }
    if (tellsIds && body.path("return_token_ids").asBoolean(false)) {
      choice.putArray("token_ids").add(token);
      if (first) {
        var ids = (chat ? chunk : choice).putArray("prompt_token_ids");
        prompt.forEach(ids::add);
      }
    }
    return ApiJson.text(chunk);
  }

  private static ObjectNode named(boolean chat, boolean chunk) {
    return ApiJson.object().put("id", (chat ? "chatcmpl-" : "cmpl-") + System.nanoTime())
        .put("object", chat ? chunk ? "chat.completion.chunk" : "chat.completion" : "text_completion")
        .put("created", 1).put("model", "m");
  }

  private static Mono<Void> json(HttpServerResponse response, int status, String text) {
    return response.status(status).header("Content-Type", "application/json").sendString(Mono.just(text)).then();
  }

  @Override
  public void close() {
    server.disposeNow();
  }
}
