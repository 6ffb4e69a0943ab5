package io.penstock.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.EvictionPolicy;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionState;
import io.penstock.block.session.SessionUse;
import io.penstock.gateway.api.ApiJson;
import io.penstock.node.setting.Setting;
import io.penstock.tier.TierEvent;
import io.penstock.wire.PenstockNode;
import io.penstock.wire.security.UserFile;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Sinks;
import tools.jackson.databind.JsonNode;

/// Clients over sockets against a gateway before two engines.
final class GatewayTest {
  private static final String COMPLETION = "{\"model\":\"m\",\"prompt\":\"hello\",\"max_tokens\":6%s}";
  private static final String CHAT =
      "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}],\"max_tokens\":6%s}";
  private static final String RESPONSE = "{\"model\":\"m\",\"input\":\"hello\",\"max_output_tokens\":6%s}";
  private static final Duration SOON = Duration.ofSeconds(10);
  private static final String STREAM = ",\"stream\":true";
  private static final String USAGE = ",\"stream\":true,\"stream_options\":{\"include_usage\":true}";

  private final HttpClient http = HttpClient.newHttpClient();
  private final LogLines access = new LogLines(LogLines.ACCESS);
  private final List<String> lines = access.lines();
  private final TokenEngine one = new TokenEngine();
  private final TokenEngine two = new TokenEngine();
  private @TempDir Path folder;
  private Gateway gateway;

  @BeforeEach
  void start() throws Exception {
    gateway = started(Map.of());
  }

  @AfterEach
  void stop() {
    gateway.close();
    one.close();
    two.close();
    http.close();
    access.close();
  }

  private Gateway started(Map<Setting<?>, String> more) throws Exception {
    Map<Setting<?>, String> flags = new HashMap<>(Map.of(GatewaySettings.PORT, "0", GatewaySettings.ADMIN_PORT, "0",
        GatewaySettings.BOTH, one.url() + "," + two.url(), GatewaySettings.POLICY, "round_robin",
        GatewaySettings.ADMIN_TOKEN, folder.resolve("token").toString(), GatewaySettings.BODY_BYTES, "4KiB",
        GatewaySettings.HEALTH_INTERVAL, "100ms"));
    flags.putAll(more);
    Gateway made = Gateway.start(GatewayConfig.resolve(null, Map.of(), flags));
    int answering = 0;
    while (answering < 2) { // the first probes take some milliseconds
      answering = tree(send(request(made.url() + "/health").GET().build())).path("instances").asInt();
    }
    return made;
  }

  private static HttpRequest.Builder request(String url) {
    return HttpRequest.newBuilder(URI.create(url));
  }

  private HttpResponse<String> send(HttpRequest request) throws IOException, InterruptedException {
    return http.send(request, HttpResponse.BodyHandlers.ofString());
  }

  private HttpResponse<String> post(String path, String body, String... headers) throws Exception {
    HttpRequest.Builder request = request(gateway.url() + path).header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(body));
    for (int i = 0; i < headers.length; i += 2) {
      request.setHeader(headers[i], headers[i + 1]);
    }
    return send(request.build());
  }

  private HttpResponse<String> admin(String method, String path, String body) throws Exception {
    return send(request("http://" + gateway.ready().admin() + path).header("Content-Type", "application/json")
        .header("Authorization", "Bearer " + Files.readString(folder.resolve("token")).strip())
        .method(method, HttpRequest.BodyPublishers.ofString(body)).build());
  }

  private static JsonNode tree(HttpResponse<String> response) {
    return ApiJson.MAPPER.readTree(response.body());
  }

  private static List<JsonNode> events(String body) {
    List<JsonNode> events = new ArrayList<>();
    body.lines().filter(line -> line.startsWith("data: {"))
        .forEach(line -> events.add(ApiJson.MAPPER.readTree(line.substring(6))));
    return events;
  }

  private static String text(List<JsonNode> events, boolean chat) {
    return events.stream().map(event -> event.path("choices").path(0))
        .map(choice -> (chat ? choice.path("delta").path("content") : choice.path("text")).asString(""))
        .collect(Collectors.joining());
  }

  @Test
  void completions_passWithUsage_asAStreamAndWhole() throws Exception {
    String text = TokenEngine.text("hello", 6);
    JsonNode whole = tree(post("/v1/completions", COMPLETION.formatted("")));
    HttpResponse<String> plain = post("/v1/completions", COMPLETION.formatted(STREAM));
    List<JsonNode> counted = events(post("/v1/completions", COMPLETION.formatted(USAGE)).body());

    assertThat(whole.path("choices").path(0).path("text").asString()).isEqualTo(text);
    assertThat(whole.path("usage").path("prompt_tokens_details").path("cached_tokens").asInt()).isEqualTo(3);
    assertThat(text(events(plain.body()), false)).isEqualTo(text);
    assertThat(plain.body()).endsWith("data: [DONE]\n\n").doesNotContain("usage", "token_ids");
    assertThat(counted.getLast().path("usage").path("completion_tokens").asInt()).isEqualTo(6);
  }

  @Test
  void chat_passes_withTheHeadersOfATrace() throws Exception {
    String trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    HttpResponse<String> answer =
        post("/v1/chat/completions", CHAT.formatted(STREAM), "traceparent", trace, "X-Request-Id", "r7");

    assertThat(text(events(answer.body()), true)).isEqualTo(TokenEngine.text("hello", 6));
    assertThat(answer.headers().firstValue("X-Request-Id")).contains("r7");
    Map<String, String> seen = one.bodies.isEmpty() ? two.headers : one.headers;
    assertThat(seen).containsEntry("traceparent", trace);
    assertThat(seen.get("x-request-id")).startsWith("r7-");
  }

  @Test
  void responses_areTranslated() throws Exception {
    String text = TokenEngine.text("hello", 6);
    JsonNode whole = tree(post("/v1/responses", RESPONSE.formatted("")));
    List<JsonNode> events = events(post("/v1/responses", RESPONSE.formatted(STREAM)).body());

    assertThat(whole.path("output").path(0).path("content").path(0).path("text").asString()).isEqualTo(text);
    assertThat(whole.path("usage").path("input_tokens_details").path("cached_tokens").asInt()).isEqualTo(3);
    assertThat(whole.path("status").asString()).isEqualTo("incomplete"); // the engine stopped by length
    assertThat(events.getFirst().path("type").asString()).isEqualTo("response.created");
    assertThat(events.stream().filter(event -> event.path("type").asString().equals("response.output_text.delta"))
        .map(event -> event.path("delta").asString()).collect(Collectors.joining())).isEqualTo(text);
    JsonNode last = events.getLast();
    assertThat(last.path("type").asString()).isEqualTo("response.incomplete");
    assertThat(last.path("response").path("usage").path("total_tokens").asInt()).isEqualTo(11);
    for (int i = 0; i < events.size(); i++) {
      assertThat(events.get(i).path("sequence_number").asInt()).isEqualTo(i);
    }
  }

  /// Members that OpenAI's own client for Java demands.
  @Test
  void response_hasEveryMember() throws Exception {
    JsonNode whole = tree(post("/v1/responses", RESPONSE.formatted("")));

    assertThat(whole.propertyNames()).contains("id", "created_at", "error", "incomplete_details", "instructions",
        "metadata", "model", "object", "output", "parallel_tool_calls", "temperature", "tool_choice", "tools", "top_p");
    assertThat(whole.path("output").path(0).path("content").path(0).propertyNames()).contains("annotations", "text");
    assertThat(whole.path("usage").path("input_tokens_details").propertyNames()).contains("cached_tokens",
        "cache_write_tokens");
    assertThat(whole.path("usage").path("output_tokens_details").has("reasoning_tokens")).isTrue();
  }

  @Test
  void everySetting_hasARowInTheManual() throws IOException {
    String rows = Files.readAllLines(Path.of("docs", "settings.md")).stream().filter(line -> line.startsWith("| `"))
        .collect(Collectors.joining("\n"));
    assertThat(GatewaySettings.ALL).isNotEmpty();
    assertThat(GatewaySettings.ALL.stream().map(Setting::key).filter(key -> !rows.contains("`" + key + "`"))).isEmpty();
  }

  @Test
  void messages_areTranslated() throws Exception {
    String text = TokenEngine.text("hello", 6);
    JsonNode whole = tree(post("/v1/messages", CHAT.formatted("")));
    List<JsonNode> events = events(post("/v1/messages", CHAT.formatted(STREAM)).body());

    assertThat(whole.path("content").path(0).path("text").asString()).isEqualTo(text);
    assertThat(whole.path("usage").path("cache_read_input_tokens").asInt()).isEqualTo(3);
    assertThat(whole.path("usage").path("input_tokens").asInt()).isEqualTo(2);
    assertThat(whole.path("stop_reason").asString()).isEqualTo("max_tokens");
    assertThat(events.stream().map(event -> event.path("type").asString()).distinct()).containsExactly("message_start",
        "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop");
    assertThat(events.stream().map(event -> event.path("delta").path("text").asString(""))
        .collect(Collectors.joining())).isEqualTo(text);
  }

  @Test
  void refusalThatRepeatsTheRequest_leavesResumesToOthers() throws Exception {
    one.refusal = "{\"error\":{\"message\":\"temperature: wrong in {'return_token_ids': True}\",\"code\":400}}";
    two.refusal = one.refusal;
    one.refusesWith = 400;
    two.refusesWith = 400;
    String body = COMPLETION.formatted(",\"stream\":true");
    assertThat(post("/v1/completions", body).statusCode()).isEqualTo(400);
    one.refusesWith = 0;
    two.refusesWith = 0;
    one.bodies.clear();
    two.bodies.clear();

    for (int i = 0; i < 2; i++) {
      assertThat(post("/v1/completions", body).statusCode()).isEqualTo(200);
    }
    assertThat(Stream.of(one, two).flatMap(engine -> engine.bodies.stream()))
        .allSatisfy(asked -> assertThat(asked.path("return_token_ids").asBoolean()).isTrue());
  }

  @Test
  void models_areThoseOfAnEngine() throws Exception {
    assertThat(send(request(gateway.url() + "/v1/models").build()).body()).contains("\"id\":\"m\"");
    assertThat(tree(send(request(gateway.url() + "/v1/models/m").build())).path("id").asString()).isEqualTo("m");
    assertThat(send(request(gateway.url() + "/v1/models/x").build()).statusCode()).isEqualTo(404);
    HttpResponse<String> head = send(request(gateway.url() + "/v1/models").HEAD().build());
    assertThat(head.statusCode()).isEqualTo(200);
    assertThat(head.body()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"/v1/completions", "/v1/chat/completions", "/v1/responses", "/v1/messages"})
  void refusals_haveTheFormOfTheirEndpoint(String path) throws Exception {
    String field = path.equals("/v1/messages") ? "error" : "";
    HttpResponse<String> method = send(request(gateway.url() + path).DELETE().build());
    HttpResponse<String> large = post(path, " ".repeat(5000));
    HttpResponse<String> form = post(path, "{}", "Content-Type", "text/plain");
    HttpResponse<String> json = post(path, "{\"a\"");
    HttpResponse<String> deep = post(path, "[".repeat(3000));
    HttpResponse<String> empty = post(path, "{}");

    assertThat(List.of(method.statusCode(), large.statusCode(), form.statusCode(), json.statusCode(),
        deep.statusCode(), empty.statusCode())).containsExactly(405, 413, 415, 400, 400, 400);
    for (HttpResponse<String> each : List.of(method, large, form, json, deep, empty)) {
      assertThat(tree(each).path("type").asString("")).isEqualTo(field);
      assertThat(tree(each).path("error").path("message").asString("")).contains(" must be ");
    }
    assertThat(method.headers().firstValue("Allow")).contains("POST");
  }

  @Test
  void unknownPath_andHeadThatIsTooLong_areRefused() throws Exception {
    assertThat(post("/v1/other", "{}").statusCode()).isEqualTo(404);
    assertThat(post("/v1/completions", "{}", "X-Long", "x".repeat(20_000)).statusCode()).isIn(400, 413, 431);
  }

  @ParameterizedTest
  @CsvSource({"/v1/completions,1", "/v1/completions,3", "/v1/completions,6", "/v1/completions,7",
    "/v1/chat/completions,1", "/v1/chat/completions,3", "/v1/chat/completions,6"})
  void answerOfAnEngineThatDies_goesOn_tokenByToken(String path, int tokens) throws Exception {
    one.diesAfter = tokens;
    boolean chat = path.contains("chat");
    for (int i = 0; i < 2; i++) { // one of them comes to the engine that dies
      HttpResponse<String> answer = post(path, (chat ? CHAT : COMPLETION).formatted(USAGE));
      List<JsonNode> events = events(answer.body());

      assertThat(text(events, chat)).isEqualTo(TokenEngine.text("hello", 6));
      assertThat(answer.body()).endsWith("data: [DONE]\n\n").doesNotContain("token_ids");
      assertThat(events.getLast().path("usage").path("prompt_tokens").asInt()).isEqualTo(5);
      assertThat(events.getLast().path("usage").path("completion_tokens").asInt()).isEqualTo(6);
      assertThat(events.stream().map(event -> event.path("id").asString()).limit(events.size() - 1L).distinct().count())
          .isLessThanOrEqualTo(6);
    }
    assertThat(one.bodies).isNotEmpty();
  }

  @Test
  void answerThatCannotGoOn_endsWithAnError_inItsForm() throws Exception {
    one.diesAfter = 3;
    two.diesAfter = 3;
    one.tellsIds = false;
    two.tellsIds = false;

    String chat = post("/v1/chat/completions", CHAT.formatted(STREAM)).body();
    String messages = post("/v1/messages", CHAT.formatted(STREAM)).body();
    String responses = post("/v1/responses", RESPONSE.formatted(STREAM)).body();

    assertThat(chat).doesNotContain("[DONE]");
    assertThat(events(chat).getLast().has("error")).isTrue();
    assertThat(messages).contains("event: error").doesNotContain("message_stop");
    assertThat(events(responses).getLast().path("type").asString()).isEqualTo("response.failed");
  }

  @Test
  void failureBeforeTheFirstByte_isRepeatedElsewhere_unlessTheRequestIsAtFault() throws Exception {
    one.refusesWith = 500;
    assertThat(post("/v1/completions", COMPLETION.formatted("")).statusCode()).isEqualTo(200);
    assertThat(post("/v1/completions", COMPLETION.formatted("")).statusCode()).isEqualTo(200);
    int before = one.bodies.size() + two.bodies.size();
    one.refusesWith = 422;
    two.refusesWith = 422;

    HttpResponse<String> refused = post("/v1/completions", COMPLETION.formatted(""));

    assertThat(refused.statusCode()).isEqualTo(422);
    assertThat(refused.body()).contains("refused by the engine");
    assertThat(one.bodies.size() + two.bodies.size()).isEqualTo(before + 1);
  }

  @Test
  void clientThatGoes_freesItsEngine() throws Exception {
    one.gate = Sinks.<Void>empty().asMono();
    two.gate = one.gate;
    for (int i = 0; i < 20; i++) {
      HttpResponse<InputStream> answer = http.send(request(gateway.url() + "/v1/completions")
          .POST(HttpRequest.BodyPublishers.ofString(COMPLETION.formatted(STREAM)))
          .header("Content-Type", "application/json").build(), HttpResponse.BodyHandlers.ofInputStream());
      assertThat(answer.body().read()).isEqualTo('d');
      answer.body().close();
    }
    one.awaitRunning(0);
    two.awaitRunning(0);

    assertThat(gateway.drain()).isTrue();
    access.await(all -> all.stream().filter(line -> line.startsWith("POST /v1/completions 499 ")).count() == 20);
  }

  @Test
  void removal_waitsForTheRequestsOfThatInstanceAlone() throws Exception {
    Sinks.Empty<Void> gate = Sinks.empty();
    one.gate = gate.asMono();
    two.gate = gate.asMono();
    List<CompletableFuture<HttpResponse<String>>> running = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      running.add(http.sendAsync(request(gateway.url() + "/v1/completions").header("Content-Type", "application/json")
          .POST(HttpRequest.BodyPublishers.ofString(COMPLETION.formatted(STREAM))).build(),
          HttpResponse.BodyHandlers.ofString()));
    }
    one.awaitRunning(1);
    two.awaitRunning(1);
    String name = URI.create(one.url()).getAuthority();

    assertThat(admin("DELETE", "/instances/" + name + "?wait=0", "").statusCode()).isEqualTo(202);
    assertThat(admin("GET", "/instances", "").body())
        .contains("{\"name\":\"" + name + "\",\"role\":\"both\",\"url\":\"" + one.url() + "\",\"state\":\"removing\"");
    assertThat(admin("DELETE", "/instances/" + name + "?wait=0", "").body()).contains("\"state\":\"removing\"");
    one.gate = gate.asMono();
    gate.tryEmitEmpty();
    for (CompletableFuture<HttpResponse<String>> each : running) {
      assertThat(each.get().body()).endsWith("data: [DONE]\n\n");
    }
    assertThat(admin("POST", "/instances", "{\"role\":\"both\",\"url\":\"" + one.url() + "\"}").statusCode())
        .isEqualTo(201);
    assertThat(admin("POST", "/instances", "{\"role\":\"both\",\"url\":\"" + one.url() + "\"}").statusCode())
        .as("it is there").isEqualTo(409);
    assertThat(admin("POST", "/instances/" + name + "/drain", "").body()).contains("\"state\":\"draining\"");
    assertThat(admin("DELETE", "/instances/" + name, "").statusCode()).isEqualTo(200);
    assertThat(admin("DELETE", "/instances/" + name, "").statusCode()).isEqualTo(404);
  }

  @Test
  void sessionOfARequest_reachesTheEngine_behindItsTenant() throws Exception {
    char[] token = UserFile.newToken(new SecureRandom());
    gateway.close();
    Path keys = Files.writeString(folder.resolve("keys"), UserFile.lineOf("team-a", token) + "\n");
    gateway = started(Map.of(GatewaySettings.KEYS, keys.toString(), GatewaySettings.BOTH, one.url() + "," + one.url()
        .replace("127.0.0.1", "localhost")));
    String key = "Bearer " + new String(token);
    String body = COMPLETION.formatted("");

    post("/v1/completions", body, "Authorization", key, "X-Session-Id", "chat-1", "X-Priority", "2", "X-Session-Keep",
        "90");
    assertThat(one.headers).containsEntry("x-session-id", "team-a/chat-1").containsEntry("x-priority", "2")
        .containsEntry("x-session-keep", "90");
    one.headers.clear();
    post("/v1/completions", COMPLETION.formatted(",\"prompt_cache_key\":\"a\\r\\nX-Evil: 1\""), "Authorization", key);
    assertThat(one.headers.get("x-session-id")).matches("~[0-9a-f]{32}");
    assertThat(one.headers).doesNotContainKey("x-evil").doesNotContainKey("x-session-keep")
        .containsEntry("x-priority", "4");
    one.headers.clear();
    post("/v1/completions", body, "Authorization", key);
    assertThat(one.headers).doesNotContainKey("x-session-id").doesNotContainKey("x-priority");
    assertThat(post("/v1/completions", body, "Authorization", key, "X-Session-Id", "a", "X-Session-Keep", "4000")
        .statusCode()).isEqualTo(400);
    assertThat(post("/v1/sessions/chat-1", "{\"state\":\"ENDED\"}").statusCode()).isEqualTo(401);
    assertThat(post("/v1/sessions/chat-1", "{\"state\":\"ENDED\"}", "Authorization", key).statusCode())
        .as("without a pool").isEqualTo(501);
  }

  @Test
  void stateOfASession_reachesThePool() throws Exception {
    CacheSpace space = CacheSpace.of("m", BlockLayout.attention(1, 16, 1, 8, ElementType.BF16));
    PenstockNode pool =
        PenstockNode.start(PenstockNode.Options.of(space, 16).withPolicy(EvictionPolicy.SESSIONS)).block(SOON);
    gateway.close();
    gateway = started(Map.of(GatewaySettings.POOL, pool.address()));
    SessionUse chat = SessionUse.of(SessionId.of("chat 1"));
    pool.tier().session(SessionUse.of(SessionId.of("chat-1")), SessionState.ACTIVE).block(SOON);
    List<TierEvent> events = new CopyOnWriteArrayList<>();
    pool.tier().events(0).subscribe(events::add);

    assertThat(tree(post("/v1/sessions/chat-1", "{\"state\":\"PAUSED\",\"keep\":60}")).toString()).isEqualTo(
        "{\"id\":\"chat-1\",\"object\":\"session\",\"state\":\"PAUSED\",\"known\":true,\"pool_session\":\"chat-1\"}");
    assertThat(tree(post("/v1/sessions/chat-1", "{\"state\":\"ended\"}")).path("known").asBoolean()).isTrue();
    assertThat(events).containsExactly(new TierEvent.SessionEnded(0, SessionId.of("chat-1")));
    assertThat(tree(post("/v1/sessions/chat%201", "{\"state\":\"ENDED\"}")).path("id").asString()).isEqualTo("chat 1");
    assertThat(pool.tier().session(chat, SessionState.PAUSED).block(SOON)).isFalse();
    for (String wrong : List.of("{}", "{\"state\":\"ASLEEP\"}", "{\"state\":\"PAUSED\",\"priority\":8}",
        "{\"state\":\"PAUSED\",\"keep\":\"x\"}")) {
      HttpResponse<String> refused = post("/v1/sessions/chat-1", wrong);
      assertThat(refused.statusCode()).as(wrong).isEqualTo(400);
      assertThat(refused.body()).contains(" must be ");
    }
    assertThat(tree(post("/v1/sessions/a+b", "{\"state\":\"ENDED\"}")).path("id").asString()).isEqualTo("a+b");
    assertThat(post("/v1/sessions/", "{}").statusCode()).isEqualTo(404);
    assertThat(post("/v1/sessions/a/b", "{}").statusCode()).isEqualTo(404);
    pool.close().block(SOON);
    assertThat(post("/v1/sessions/chat-1", "{\"state\":\"PAUSED\"}").statusCode()).isEqualTo(503);
  }

  @Test
  void keys_nameTenants_andQuotasRefuseWithATime() throws Exception {
    char[] token = UserFile.newToken(new SecureRandom());
    String key = new String(token);
    String line = UserFile.lineOf("team-a", token);
    gateway.close();
    Path keys = Files.writeString(folder.resolve("keys"), line + "\n");
    Path quotas = Files.writeString(folder.resolve("quotas"), "team-a requests=2 parallel=4\n");
    gateway = started(Map.of(GatewaySettings.KEYS, keys.toString(), GatewaySettings.QUOTAS, quotas.toString()));

    String body = COMPLETION.formatted("");
    assertThat(post("/v1/completions", body).statusCode()).isEqualTo(401);
    assertThat(post("/v1/completions", body, "Authorization", "Bearer wrong").statusCode()).isEqualTo(401);
    assertThat(post("/v1/completions", body, "Authorization", "Bearer " + key).statusCode()).isEqualTo(200);
    assertThat(post("/v1/messages", CHAT.formatted(""), "x-api-key", key).statusCode()).isEqualTo(200);
    HttpResponse<String> refused = post("/v1/messages", CHAT.formatted(""), "x-api-key", key);
    assertThat(
        send(request(gateway.url() + "/v1/models").header("Authorization", "Bearer " + key).build()).statusCode())
        .as("generates nothing").isEqualTo(200);
    assertThat(post("/v1/sessions/a", "{\"state\":\"ENDED\"}", "x-api-key", key).statusCode()).isEqualTo(501);
    access.await(all -> all.stream().anyMatch(each -> each.contains("/v1/sessions 501")));
    assertThat(lines).anyMatch(each -> each.contains("/v1/messages 429") && each.contains("first - ms")
        && each.contains("cached -,") && each.contains("tenant team-a,"));
    assertThat(refused.statusCode()).isEqualTo(429);
    assertThat(tree(refused).path("error").path("type").asString()).isEqualTo("rate_limit_error");
    assertThat(Integer.parseInt(refused.headers().firstValue("Retry-After").orElseThrow())).isBetween(1, 60);
  }

  @Test
  @Timeout(20)
  void drain_isSaidAtBothPorts_untilTheLastAnswerEnds() throws Exception {
    Sinks.Empty<Void> gate = Sinks.empty();
    one.gate = gate.asMono();
    two.gate = gate.asMono();
    HttpResponse<InputStream> answer = http.send(request(gateway.url() + "/v1/completions")
        .POST(HttpRequest.BodyPublishers.ofString(COMPLETION.formatted(STREAM)))
        .header("Content-Type", "application/json").build(), HttpResponse.BodyHandlers.ofInputStream());
    CompletableFuture<Boolean> drained = CompletableFuture.supplyAsync(gateway::drain);
    HttpRequest health = request("http://" + gateway.ready().admin() + "/health").build();
    HttpResponse<String> state = send(health);
    while (state.statusCode() == 200) { // the drain begins on another thread
      state = send(health);
    }

    assertThat(state.statusCode()).isEqualTo(503);
    assertThat(tree(state).path("state").asString()).isEqualTo("draining");
    gate.tryEmitEmpty();
    assertThat(new String(answer.body().readAllBytes(), StandardCharsets.UTF_8)).endsWith("data: [DONE]\n\n");
    assertThat(drained.get()).isTrue();
  }

  @Test
  void allInstancesDrained_isTheReason() throws Exception {
    for (TokenEngine engine : List.of(one, two)) {
      admin("POST", "/instances/" + URI.create(engine.url()).getAuthority() + "/drain", "");
    }

    assertThat(send(request(gateway.url() + "/health").build()).body()).contains("\"all 2 decode instances drain\"");
    HttpResponse<String> refused = post("/v1/completions", COMPLETION.formatted(""));
    assertThat(refused.statusCode()).isEqualTo(503);
    assertThat(refused.body()).contains("all 2 decode instances drain");
  }

  @Test
  void engineThatRefusesConnections_isAskedOnce_andClientsAreNotToldWhereItIs() throws Exception {
    one.close();
    two.refusesWith = 500;
    two.refusal = "{\"error\":{\"message\":\"pull from 127.0.0.1:8998 failed: Connection refused\",\"code\":500}}";
    HttpResponse<String> refused = post("/v1/completions", COMPLETION.formatted(""));

    assertThat(refused.statusCode()).isEqualTo(502);
    two.close();
    admin("DELETE", "/instances/" + URI.create(two.url()).getAuthority(), "");
    HttpResponse<String> unreached = post("/v1/completions", COMPLETION.formatted(""));
    assertThat(unreached.statusCode()).isIn(502, 503);
    access.await(all -> all.size() >= 2);
    assertThat(lines).filteredOn(line -> line.startsWith("POST")).last().asString().contains("attempts 1,");
    for (HttpResponse<String> each : List.of(refused, unreached)) {
      assertThat(tree(each).path("error").path("message").asString()).doesNotContain("127.0.0.1", "onnection refused")
          .isNotEmpty();
    }
  }

  @Test
  void modelThatNoOneNamed_isTheEngines_andThePromptIsCountedAtTheBegin() throws Exception {
    String chat = CHAT.replace("\"model\":\"m\",", "");
    String response = RESPONSE.replace("\"model\":\"m\",", "");
    JsonNode start = events(post("/v1/messages", chat.formatted(STREAM)).body()).getFirst().path("message");

    assertThat(start.path("model").asString()).isEqualTo("m");
    assertThat(start.path("usage").path("input_tokens").asInt()).isEqualTo(5);
    assertThat(tree(post("/v1/messages", chat.formatted(""))).path("model").asString()).isEqualTo("m");
    assertThat(tree(post("/v1/responses", response.formatted(""))).path("model").asString()).isEqualTo("m");
    assertThat(events(post("/v1/responses", response.formatted(STREAM)).body()))
        .allSatisfy(event -> assertThat(event.path("response").path("model").asString("m")).isEqualTo("m"));
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {"/v1/responses|{\"input\":[]}|input|input must be",
    "/v1/responses|{\"input\":\"a\",\"max_output_tokens\":0}|max_output_tokens|max_output_tokens must be",
    "/v1/responses|{}|input|(was missing)", "/v1/messages|{\"messages\":[]}|max_tokens|(was missing)",
    "/v1/completions|{\"prompt\":\"a\",\"stream\":1}|stream|(was 1)",
    "/v1/completions|{\"prompt\":\"a\"|null|(was not, at line 1, column "})
  void refusal_namesTheClientsField_andItsValue(String path, String body, String param, String message)
      throws Exception {
    JsonNode error = tree(post(path, body)).path("error");

    assertThat(error.path("message").asString()).contains(message).doesNotContain("ource", "xception");
    if (!path.equals("/v1/messages")) { // which has no such member
      assertThat(error.path("param").asString("null")).isEqualTo(param);
    }
  }

  @Test
  void engineThatBlamesAField_blamesTheClientsOwn() throws Exception {
    one.refusal = "{\"error\":{\"message\":\"max_tokens must be at most 3 (was 6)\",\"code\":400}}";
    two.refusal = one.refusal;
    one.refusesWith = 400;
    two.refusesWith = 400;
    JsonNode response = tree(post("/v1/responses", RESPONSE.formatted(""))).path("error");
    JsonNode chat = tree(post("/v1/chat/completions", CHAT.formatted(""), "X-Priority", "7")).path("error");
    JsonNode header = tree(post("/v1/chat/completions", CHAT.formatted(""), "X-Priority", "x")).path("error");

    assertThat(response.path("message").asString()).isEqualTo("max_output_tokens must be at most 3 (was 6)");
    assertThat(response.path("param").asString()).isEqualTo("max_output_tokens");
    assertThat(chat.path("param").asString()).isEqualTo("max_tokens");
    assertThat(header.path("param").asString()).isEqualTo("X-Priority");
    assertThat(header.path("message").asString()).isEqualTo("X-Priority must be from 0 to 7 (was \"x\")");
  }

  @Test
  void wrongCommandsOfOperators_areNamed() throws Exception {
    for (String[] each : new String[][] {{"{}", "url must be the http or https URL of an engine (was missing)"},
      {"{\"url\":\"http://h:1\"}", "role must be prefill, decode or both (was missing)"},
      {"{\"urls\":1}", "fields must be some of role, url, name (was \"urls\")"}, {"{\"a\"", "body must be JSON"},
      {"{\"role\":\"both\",\"url\":\"http://h:1#foo=1\"}", "(was foo)"}}) {
      HttpResponse<String> refused = admin("POST", "/instances", each[0]);
      assertThat(refused.statusCode()).isEqualTo(400);
      assertThat(tree(refused).path("error").asString()).contains(each[1]).doesNotContain("Source", "Feature");
    }
  }

  @Test
  void takenPort_isNamedWithItsSetting() {
    String port = String.valueOf(URI.create(gateway.url()).getPort());
    for (Setting<?> setting : List.of(GatewaySettings.PORT, GatewaySettings.ADMIN_PORT)) {
      assertThatThrownBy(() -> started(Map.of(setting, port))).isInstanceOf(IOException.class)
          .hasMessageMatching(setting.key() + " must be free for this user at 127.0.0.1 \\(was " + port + ", from "
              + setting.flag() + "\\): .*; " + setting.flag() + " 0 takes any that is free");
    }
  }

  @Test
  void wrongSettings_areAllNamed() throws Exception {
    Path file = Files.writeString(folder.resolve("config"), "unknown: 1\nqueue: many\nboth: 'http://h:1#foo=1'\n");
    assertThatThrownBy(() -> GatewayConfig.resolve(file, Map.of(), Map.of()))
        .hasMessageContaining("(was unknown)").hasMessageContaining("queue must be").hasMessageContaining("(was foo)");
    assertThatThrownBy(() -> GatewayConfig.resolve(null, Map.of(),
        Map.of(GatewaySettings.BOTH, "http://h:1,http://h:1"))).hasMessageContaining("(was again http://h:1)");
  }

  @Test
  @Timeout(20)
  void administration_needsItsToken_andMetricsDoNot() throws Exception {
    String url = "http://" + gateway.ready().admin();
    assertThat(send(request(url + "/instances").build()).statusCode()).isEqualTo(401);
    send(request(gateway.url() + "/v1/models").build());
    post("/v1/completions", COMPLETION.formatted(""));
    String metrics = "";
    while (!metrics.contains("penstock_gateway_tokens_total{kind=\"cached\"} 3.0")) { // counted after the last byte
      metrics = send(request(url + "/metrics").build()).body();
    }
    assertThat(metrics).contains("{form=\"models\",status=\"200\"}", "penstock_gateway_instances{role=\"both\"} 2.0");
  }
}
