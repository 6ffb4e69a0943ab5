package io.penstock.examples.openai;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

final class EngineServerTest {
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  private final CountingEngine engine = new CountingEngine();
  private EngineServer.Running server;

  @BeforeEach
  void start() {
    server = EngineServer.start(engine, EngineServerOptions.of("127.0.0.1", 0).withSlots(1).withQueue(1),
        Clock.fixed(Instant.ofEpochSecond(7), ZoneOffset.UTC)).blockOptional(PATIENCE).orElseThrow();
  }

  @AfterEach
  void close() {
    server.close().block(PATIENCE);
  }

  @AfterAll
  static void closeClient() {
    HTTP.close();
  }

  @Test
  void completion_ofText_tellsUsage() throws Exception {
    HttpResponse<String> response = post("/v1/completions", "{'prompt':'xya','max_tokens':3}");
    assertThat(response.statusCode()).isEqualTo(200);
    JsonNode answer = json(response.body());
    assertThat(answer.at("/choices/0/text").asString()).isEqualTo("bcd");
    assertThat(answer.at("/choices/0/finish_reason").asString()).isEqualTo("length");
    assertThat(answer.at("/id").asString()).isEqualTo("cmpl-r1");
    assertThat(answer.at("/created").asInt()).isEqualTo(7);
    assertThat(answer.at("/usage")).isEqualTo(json("""
        {"prompt_tokens":3,"completion_tokens":3,"total_tokens":6,"prompt_tokens_details":{"cached_tokens":2}}"""));
  }

  @Test
  void completion_ofTokens_tellsTokensAndTransfer() throws Exception {
    JsonNode answer = json(post("/v1/completions",
        "{'prompt':[1,65],'max_tokens':2,'return_token_ids':true,'kv_transfer_params':{'do_remote_decode':true}}")
        .body());
    assertThat(answer.at("/choices/0/token_ids")).isEqualTo(json("[66,67]"));
    assertThat(answer.at("/choices/0/prompt_token_ids")).isEqualTo(json("[1,65]"));
    assertThat(answer.at("/kv_transfer_params")).isEqualTo(json("{\"got\":{\"do_remote_decode\":true}}"));
  }

  @Test
  void chat_streams_rolesTextUsage() throws Exception {
    List<JsonNode> events = events(post("/v1/chat/completions", """
        {'messages':[{'role':'user','content':[{'type':'text','text':'hi'}]}],'max_completion_tokens':3,
        'tools':[{'type':'function'}],'stream':true,'stream_options':{'include_usage':true},'temperature':1}""")
        .body());
    assertThat(events.getFirst().at("/choices/0/delta/role").asString()).isEqualTo("assistant");
    assertThat(events.stream().map(event -> event.at("/choices/0/delta/content").asString(""))
        .collect(Collectors.joining())).isEqualTo("?@A");
    assertThat(events.get(events.size() - 2).at("/choices/0/finish_reason").asString()).isEqualTo("length");
    assertThat(events.getLast().at("/usage/prompt_tokens").asInt()).isEqualTo("<user>hi\n<assistant>".length());
    assertThat(events).allMatch(event -> event.at("/object").asString().equals("chat.completion.chunk"));
  }

  @Test
  void stream_withTokenIds_tellsEach() throws Exception {
    List<JsonNode> events = events(post("/v1/completions",
        "{'prompt':'a','max_tokens':3,'stream':true,'return_token_ids':true}").body());
    assertThat(events.getFirst().at("/choices/0/prompt_token_ids")).isEqualTo(json("[97]"));
    assertThat(events.stream().flatMap(event -> event.at("/choices/0/token_ids").valueStream()).map(JsonNode::asInt))
        .containsExactly(98, 99, 100);
  }

  @Test
  void stop_endsTheTextBeforeIt() throws Exception {
    JsonNode answer = json(post("/v1/completions", "{'prompt':'a','max_tokens':20,'stop':['xx','fg']}").body());
    assertThat(answer.at("/choices/0/text").asString()).isEqualTo("bcde");
    assertThat(answer.at("/choices/0/finish_reason").asString()).isEqualTo("stop");
    JsonNode token = json(post("/v1/completions", "{'prompt':'a','max_tokens':20,'stop_token_ids':[100]}").body());
    assertThat(token.at("/choices/0/text").asString()).isEqualTo("bc");
    assertThat(token.at("/choices/0/finish_reason").asString()).isEqualTo("stop");
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "/v1/completions      | {'prompt':'a','max_tokens':0}   | 400 | max_tokens must be from 1 to 199 for",
    "/v1/completions      | {'prompt':'a','model':'other'}  | 404 | model must be counting (was other)",
    "/v1/completions      | {'prompt':['a','b']}            | 400 | prompt must be one text or token ids",
    "/v1/completions      | {'prompt':'a','n':2}            | 400 | n must be 1 (was 2)",
    "/v1/completions      | {'prompt':'a','stop':['']}      | 400 | stop must be at most 16 texts",
    "/v1/completions      | {'prompt'                       | 400 | body must be JSON",
    "/v1/completions      | {'prompt':'refuse'}             | 400 | prompt must be kind (was refuse)",
    "/v1/completions      | {'prompt':'fail'}               | 500 | The engine failed",
    "/v1/chat/completions | {'messages':[]}                 | 400 | messages must be a list",
    "/v1/models           | {}                              | 405 | method must be GET (was POST)",
    "/v2/completions      | {}                              | 404 | There is no /v2/completions here."})
  void wrongRequests_areRefused(String path, String body, int status, String message) throws Exception {
    HttpResponse<String> response = post(path, body);
    assertThat(response.statusCode()).isEqualTo(status);
    assertThat(json(response.body()).at("/error/message").asString()).startsWith(message);
    assertThat(json(response.body()).at("/error/code").asInt()).isEqualTo(status);
    JsonNode param = json(response.body()).at("/error/param");
    assertThat(param.isNull() || message.startsWith(param.asString() + " must be ")).as("%s", param).isTrue();
    assertThat(param.isNull()).isEqualTo(!message.matches("(max_tokens|prompt must be one|n|stop|messages) .*"));
  }

  @Test
  void body_thatIsTooLong_isRefused() throws Exception {
    assertThat(post("/v1/completions", "x".repeat((4 << 20) + 1)).statusCode()).isEqualTo(413);
  }

  @Test
  void stream_whoseEngineFails_endsWithAnError() throws Exception {
    List<JsonNode> events = events(post("/v1/completions", "{'prompt':'fail','stream':true}").body());
    assertThat(events.getFirst().at("/choices/0/text").asString()).isEqualTo("m");
    assertThat(events.getLast().at("/error/message").asString()).contains("out of order");
  }

  @Test
  void queue_thatIsFull_refuses_andMetricsTellTheLoad() throws Exception {
    CompletableFuture<HttpResponse<String>> running = later("{'prompt':'wait','max_tokens':1}");
    engine.waiting.await();
    CompletableFuture<HttpResponse<String>> queued = later("{'prompt':'wait','max_tokens':1}");
    until("vllm:num_requests_waiting{model_name=\"counting\"} 1");
    HttpResponse<String> refused = post("/v1/completions", "{'prompt':'a'}");
    assertThat(refused.statusCode()).isEqualTo(503);
    assertThat(refused.headers().firstValue("Retry-After")).contains("1");
    assertThat(get("/metrics")).contains("vllm:num_requests_running{model_name=\"counting\"} 1\n",
        "vllm:kv_cache_usage_perc{model_name=\"counting\"} 0.25\n");
    engine.permits.release(2);
    assertThat(running.get().statusCode()).isEqualTo(200);
    assertThat(queued.get().statusCode()).isEqualTo(200);
    until("vllm:num_requests_running{model_name=\"counting\"} 0");
  }

  @ParameterizedTest
  @CsvSource({"true", "false"})
  void client_thatGoes_takesItsRequestWithIt(boolean stream) throws Exception {
    String body = "{\"prompt\":\"wait\",\"max_tokens\":5,\"stream\":" + stream + "}";
    try (Socket client = new Socket("127.0.0.1", Integer.parseInt(server.address().split(":")[1]))) {
      send(client.getOutputStream(), body);
      engine.waiting.await();
      engine.permits.release();
      if (stream) {
        InputStream in = client.getInputStream();
        assertThat(in.read()).isPositive();
      }
    }
    assertThat(engine.interrupted.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    until("vllm:num_requests_running{model_name=\"counting\"} 0");
  }

  @Test
  void tokenize_models_health() throws Exception {
    assertThat(json(post("/tokenize", "{'prompt':'ab'}").body()))
        .isEqualTo(json("{\"count\":2,\"max_model_len\":200,\"tokens\":[97,98]}"));
    assertThat(json(post("/detokenize", "{'tokens':[195,164]}").body()).at("/prompt").asString()).isEqualTo("ä");
    assertThat(json(get("/v1/models")).at("/data/0/id").asString()).isEqualTo("counting");
    assertThat(get("/health")).isEmpty();
  }

  private static void send(OutputStream out, String body) throws IOException {
    out.write(("POST /v1/completions HTTP/1.1\r\nHost: a\r\nContent-Length: " + body.length() + "\r\n\r\n" + body)
        .getBytes(StandardCharsets.UTF_8));
  }

  private void until(String line) throws Exception {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (!get("/metrics").contains(line + "\n")) {
      assertThat(System.nanoTime()).as(line).isLessThan(end);
      Thread.onSpinWait();
    }
  }

  private HttpResponse<String> post(String path, String body) throws Exception {
    return HTTP.send(request(path, body), BodyHandlers.ofString());
  }

  private CompletableFuture<HttpResponse<String>> later(String body) {
    return HTTP.sendAsync(request("/v1/completions", body), BodyHandlers.ofString());
  }

  private HttpRequest request(String path, String body) {
    return HttpRequest.newBuilder(URI.create("http://" + server.address() + path)).header("X-Request-Id", "r1")
        .POST(BodyPublishers.ofString(body.replace('\'', '"'))).build();
  }

  private String get(String path) throws Exception {
    return HTTP.send(HttpRequest.newBuilder(URI.create("http://" + server.address() + path)).build(),
        BodyHandlers.ofString()).body();
  }

  private static List<JsonNode> events(String body) {
    List<String> lines = body.lines().filter(line -> !line.isEmpty()).toList();
    assertThat(lines.getLast()).isEqualTo("data: [DONE]");
    return lines.subList(0, lines.size() - 1).stream().map(line -> json(line.substring("data: ".length()))).toList();
  }

  private static JsonNode json(String text) {
    return JsonMapper.shared().readTree(text);
  }
}
