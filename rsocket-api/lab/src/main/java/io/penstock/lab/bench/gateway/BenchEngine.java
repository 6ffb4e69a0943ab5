package io.penstock.lab.bench.gateway;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpMethod;
import io.penstock.node.text.Json;
import io.penstock.operator.InTurn;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;
import reactor.netty.resources.LoopResources;
import tools.jackson.databind.JsonNode;

/// An engine that follows a script: each answer has the tokens that were asked for, each token in an event and a
/// packet of its own, as fast as it can or at a given pace. Its events are those of vLLM, token ids among them. A token
/// is the time at which it was written.
final class BenchEngine implements AutoCloseable {
  /// Begins the text of a token.
  static final String MARK = "~";
  static final int TIME_DIGITS = 16;
  private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] DONE = "data: [DONE]\n\n".getBytes(StandardCharsets.US_ASCII);
  private static final String NAMED =
      "data: {\"id\":\"%s-bench\",\"object\":\"%s\",\"created\":1700000000,\"model\":\"bench\",\"choices\":[%s]%s}\n\n";
  private static final String TIME = "0".repeat(TIME_DIGITS);

  private final DisposableServer server;
  private final Scheduler timer;
  private final Script chat = new Script(true);
  private final Script completions = new Script(false);
  private final AtomicInteger running = new AtomicInteger();
  private final AtomicInteger most = new AtomicInteger();
  private volatile Duration pace = Duration.ZERO;

  /// @param timer of the pace
  BenchEngine(LoopResources loops, Scheduler timer) {
    this.timer = timer;
    this.server = HttpServer.create().host("127.0.0.1").port(0).runOn(loops).handle(this::handle).bindNow();
  }

  /// The events of one endpoint as bytes.
  private static final class Script {
    private final byte[] first;
    private final byte[] firstWithIds;
    private final byte[] token;
    private final byte[] tokenWithId;
    private final byte[] last;
    private final byte[] lastWithIds;
    private final byte[] usage;
    private final int time;

    Script(boolean chat) {
      String prompt = ",\"prompt_token_ids\":[1,2,3,4,5,6,7,8]";
      String role = "{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"logprobs\":null,"
          + "\"finish_reason\":null}";
      String none = chat ? "\"delta\":{}" : "\"text\":\"\"";
      String text = (chat ? "\"delta\":{\"content\":\"%s\"}" : "\"text\":\"%s\"").formatted(MARK + TIME);
      String choice = "{\"index\":0,%s,\"logprobs\":null,\"finish_reason\":%s%s}";
      String open = choice.formatted(text, "null", "%s");
      this.first = chat ? bytes(chat, role, "") : new byte[0];
      this.firstWithIds = chat
          ? bytes(chat, role, prompt)
          : bytes(chat, choice.formatted(none, "null", prompt + ",\"token_ids\":[]"), "");
      this.token = bytes(chat, open.formatted(""), "");
      this.tokenWithId = bytes(chat, open.formatted(",\"stop_reason\":null,\"token_ids\":[12345]"), "");
      this.last = bytes(chat, choice.formatted(none, "\"stop\"", ",\"stop_reason\":null"), "");
      this.lastWithIds =
          bytes(chat, choice.formatted(none, "\"stop\"", ",\"stop_reason\":null,\"token_ids\":[2]"), "");
      this.usage = bytes(chat, "", ",\"usage\":{\"prompt_tokens\":8,\"total_tokens\":9,\"completion_tokens\":1,"
          + "\"prompt_tokens_details\":{\"cached_tokens\":4}}");
      this.time = new String(token, StandardCharsets.US_ASCII).indexOf(MARK + TIME) + MARK.length();
    }

    private static byte[] bytes(boolean chat, String choices, String more) {
      return NAMED.formatted(chat ? "chatcmpl" : "cmpl", chat ? "chat.completion.chunk" : "text_completion", choices,
          more).getBytes(StandardCharsets.US_ASCII);
    }

    /// A token that carries the time.
    ByteBuf token(ByteBufAllocator memory, boolean ids) {
      byte[] template = ids ? tokenWithId : token;
      ByteBuf bytes = memory.buffer(template.length).writeBytes(template);
      long now = System.nanoTime();
      for (int digit = 0; digit < TIME_DIGITS; digit++) {
        bytes.setByte(time + digit, HEX[(int) (now >>> (4 * (TIME_DIGITS - 1 - digit))) & 15]);
      }
      return bytes;
    }
  }

  String url() {
    return "http://127.0.0.1:" + server.port();
  }

  /// Sets the time between two tokens; zero for as fast as possible.
  void pace(Duration each) {
    pace = each;
  }

  /// The greatest number of answers that ran at a time.
  int most() {
    return most.get();
  }

  private Publisher<Void> handle(HttpServerRequest request, HttpServerResponse response) {
    if (request.method().equals(HttpMethod.GET)) {
      return response.header("Content-Type", "application/json")
          .sendString(Mono.just("{\"object\":\"list\",\"data\":[{\"id\":\"bench\",\"object\":\"model\"}]}"));
    }
    boolean isChat = request.uri().equals(AnswerForm.CHAT.path());
    return request.receive().aggregate().asString()
        .flatMap(text -> answer(Json.MAPPER.readTree(text), isChat ? chat : completions, response));
  }

  private Mono<Void> answer(JsonNode body, Script script, HttpServerResponse response) {
    int tokens = body.path("max_tokens").asInt(1);
    boolean ids = body.path("return_token_ids").asBoolean(false);
    boolean counted = body.path("stream_options").path("include_usage").asBoolean(false);
    ByteBufAllocator memory = response.alloc();
    Flux<Integer> turns = Flux.range(0, tokens);
    long each = pace.toNanos();
    Flux<ByteBuf> written = (each == 0 ? turns : paced(turns, each)).map(turn -> script.token(memory, ids));
    Flux<ByteBuf> end = InTurn.of(counted ? fixed(script.usage) : Flux.<ByteBuf>empty(), fixed(DONE));
    Flux<ByteBuf> all = InTurn.of(InTurn.of(fixed(ids ? script.firstWithIds : script.first), written),
        InTurn.of(fixed(ids ? script.lastWithIds : script.last), end));
    return Mono.defer(() -> {
      most.accumulateAndGet(running.incrementAndGet(), Math::max);
      return response.header("Content-Type", "text/event-stream")
          .send(all.doFinally(signal -> running.decrementAndGet()), bytes -> true).then();
    });
  }

  /// Each at its time after the subscription: one that is late delays no other.
  private Flux<Integer> paced(Flux<Integer> turns, long each) {
    return Flux.defer(() -> {
      long began = System.nanoTime();
      return turns.concatMap(turn -> Mono.just(turn)
          .delayElement(Duration.ofNanos(Math.max(0, began + (turn + 1) * each - System.nanoTime())), timer), 1);
    });
  }

  private static Flux<ByteBuf> fixed(byte[] bytes) {
    return bytes.length == 0 ? Flux.empty() : Flux.defer(() -> Flux.just(Unpooled.wrappedBuffer(bytes)));
  }

  @Override
  public void close() {
    server.disposeNow();
  }
}
