package io.penstock.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.gateway.api.ApiJson;
import io.penstock.gateway.engines.EngineServer;
import io.penstock.gateway.engines.FormsEngine;
import io.penstock.gateway.engines.Tree;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.netty.resources.LoopResources;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A gateway before an engine that answers all forms itself, and one that answers chats alone. Both have the model m;
/// each has one more.
final class NativeFormsTest {
  private static final String RESPONSES = "/v1/responses";
  private static final String MESSAGES = "/v1/messages";

  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final LoopResources LOOPS = LoopResources.create("engines", 1, true);
  private static final FormsEngine OWN = new FormsEngine("own", Set.of(RESPONSES, MESSAGES));
  private static final FormsEngine CHATS = new FormsEngine("chats", Set.of());
  private static EngineServer one;
  private static EngineServer two;
  private static TestGateway gateway;

  @BeforeAll
  static void start() throws Exception {
    one = EngineServer.start(() -> OWN, LOOPS);
    two = EngineServer.start(() -> CHATS, LOOPS);
    gateway =
        TestGateway.start(Map.of("both", one.url() + "," + two.url(), "policy", "round_robin", "health.down", "1000",
            "native.forms", "responses,messages"), 2);
  }

  @BeforeEach
  void forget() {
    OWN.calls().clear();
    OWN.cut(Integer.MAX_VALUE, null);
    CHATS.calls().clear();
  }

  @AfterAll
  static void stop() {
    gateway.close();
    one.close();
    two.close();
    LOOPS.disposeLater(Duration.ZERO, Duration.ofSeconds(2)).block();
    HTTP.close();
  }

  private static ObjectNode body(String path, String model, boolean stream) {
    ObjectNode body = Tree.object().put("max_tokens", 6).put("stream", stream);
    if (!model.isEmpty()) {
      body.put("model", model);
    }
    if (path.equals(MESSAGES)) {
      body.putArray("messages").addObject().put("role", "user").put("content", "one two three");
    } else {
      body.put("input", "one two three").put("max_output_tokens", 6).remove("max_tokens");
    }
    return body;
  }

  private static HttpResponse<String> post(String path, ObjectNode body) throws Exception {
    return HTTP.send(HttpRequest.newBuilder(URI.create(gateway.url() + path))
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(Tree.text(body))).build(), HttpResponse.BodyHandlers.ofString());
  }

  private static HttpResponse<String> get(String path, String... headers) throws Exception {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(gateway.url() + path));
    for (int i = 0; i < headers.length; i += 2) {
      request.header(headers[i], headers[i + 1]);
    }
    return HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private static List<JsonNode> events(String body) {
    List<JsonNode> events = new ArrayList<>();
    String[] lines = body.split("\n");
    for (int i = 0; i < lines.length; i++) {
      if (lines[i].startsWith("data: ")) {
        JsonNode event = Tree.read(lines[i].substring(6));
        assertThat(lines[i - 1]).isEqualTo("event: " + event.path("type").asString());
        events.add(event);
      }
    }
    return events;
  }

  private static String text(String path, List<JsonNode> events) {
    return events.stream()
        .map(event -> path.equals(MESSAGES) ? event.path("delta").path("text") : event.path("delta"))
        .map(delta -> delta.asString("")).collect(Collectors.joining());
  }

  @ParameterizedTest
  @ValueSource(strings = {RESPONSES, MESSAGES})
  void engineWithTheForm_answersItself_andTheOtherGetsChats(String path) throws Exception {
    List<String> texts = new ArrayList<>();
    List<String> ids = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      List<JsonNode> events = events(post(path, body(path, "", true)).body());
      texts.add(text(path, events));
      ids.add(events.getFirst().path(path.equals(MESSAGES) ? "message" : "response").path("id").asString());
      assertThat(events.getLast().path("type").asString()).as(Tree.text(events.getLast()))
          .isIn("message_stop", "response.completed");
    }
    JsonNode whole = Tree.read(post(path, body(path, "own", false)).body());

    assertThat(texts).allSatisfy(text -> assertThat(text).matches("( w[0-9]+){6}"));
    assertThat(ids.stream().filter(id -> id.endsWith("_own"))).hasSizeBetween(2, 3);
    assertThat(OWN.calls()).allSatisfy(call -> assertThat(call.path()).isEqualTo(path));
    assertThat(CHATS.calls()).isNotEmpty()
        .allSatisfy(call -> assertThat(call.path()).isEqualTo("/v1/chat/completions"));
    assertThat(CHATS.refusals()).hasSizeBetween(1, 2).containsOnly("Not Found"); // the gateway asked once for each form
    assertThat(whole.path("id").asString()).endsWith("_own");
    JsonNode usage = whole.path("usage");
    assertThat(usage.path("output_tokens").asInt()).isEqualTo(6);
    assertThat(usage.has("cache_read_input_tokens") || usage.has("input_tokens_details")).isTrue();
  }

  @ParameterizedTest
  @CsvSource({"/v1/responses,5,", "/v1/messages,4,", "/v1/responses,5,response.failed", "/v1/messages,4,error",
    "/v1/responses,5,error", "/v1/messages,9,message_delta", "/v1/responses,13,response.completed"})
  void answerThatIsNotWhole_endsWithAnError_inItsForm(String path, int after, String last) throws Exception {
    ObjectNode failure = Tree.object();
    if (last != null) {
      failure.putObject("error").put("message", "out of blocks").put("type", "server_error");
      failure.put("message", "out of blocks").put("sequence_number", after).put("type", last);
    }
    OWN.cut(after, last == null ? null : failure);

    String body = post(path, body(path, "own", true)).body();

    List<JsonNode> events = events(body);
    assertThat(body).doesNotContain("event: message_stop", "event: response.completed", "[DONE]");
    assertThat(events).hasSize(after + 1);
    JsonNode error = events.getLast();
    assertThat(Tree.text(error)).contains(last == null ? "ended its stream without" : "out of blocks");
    if (path.equals(MESSAGES)) {
      assertThat(error.path("type").asString()).isEqualTo("error");
      assertThat(error.path("error").path("type").asString()).isEqualTo("api_error");
    } else {
      assertThat(error.path("type").asString()).isEqualTo("response.failed");
      assertThat(error.path("sequence_number").asInt()).isEqualTo(after);
      assertThat(error.path("response").path("id").asString()).isEqualTo("resp_own");
      assertThat(error.path("response").path("status").asString()).isEqualTo("failed");
      assertThat(error.path("response").path("error").path("code").asString()).isEqualTo("server_error");
    }
  }

  @Test
  void requestThatIsNoChat_goesToTheEngineWithTheForm_orIsRefused() throws Exception {
    ObjectNode search = body(RESPONSES, "", false);
    search.putArray("tools").addObject().put("type", "web_search");
    for (int i = 0; i < 4; i++) {
      assertThat(post(RESPONSES, search).statusCode()).isEqualTo(200);
    }
    HttpResponse<String> refused = post(RESPONSES, search.deepCopy().put("model", "chats"));
    HttpResponse<String> stored = post(RESPONSES, body(RESPONSES, "own", false).put("previous_response_id", "r"));

    assertThat(OWN.calls()).hasSize(4).allSatisfy(call -> assertThat(call.path()).isEqualTo(RESPONSES));
    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(refused.body()).contains("type of a tool must be function");
    assertThat(stored.statusCode()).isEqualTo(400);
    assertThat(Tree.read(stored.body()).path("error").path("param").asString()).isEqualTo("previous_response_id");
  }

  @Test
  void refusalThatARequestCaused_leavesTheFormToOthers() throws Exception {
    ObjectNode wrong = body(RESPONSES, "own", false);
    wrong.put("unsupported", true);

    assertThat(post(RESPONSES, wrong).statusCode()).isEqualTo(502);
    OWN.calls().clear();
    assertThat(Tree.read(post(RESPONSES, body(RESPONSES, "own", false)).body()).path("id").asString())
        .endsWith("_own");
    assertThat(OWN.calls()).hasSize(1).allSatisfy(call -> assertThat(call.path()).isEqualTo(RESPONSES));
  }

  @Test
  void models_areThoseOfAllInstances_inTheFormOfTheClient() throws Exception {
    JsonNode list = Tree.read(get("/v1/models").body());
    JsonNode page = Tree.read(get("/v1/models?limit=9", "anthropic-version", "2023-06-01").body());

    assertThat(list.path("data").findValuesAsString("id")).containsExactlyInAnyOrder("own", "chats");
    assertThat(list.path("object").asString()).isEqualTo("list");
    assertThat(page.path("data").findValuesAsString("id")).containsExactlyInAnyOrder("own", "chats");
    assertThat(page.path("data").findValuesAsString("type")).containsOnly("model");
    assertThat(Tree.read(get("/v1/models/own").body()).path("owned_by").asString()).isEqualTo("script");
    assertThat(Tree.read(get("/v1/models/none").body()).path("error").path("code").asString())
        .isEqualTo("model_not_found");
    assertThat(Tree.read(get("/v1/models/none", "anthropic-version", "2023-06-01").body()).path("error").path("type")
        .asString()).isEqualTo("not_found_error");
  }

  @ParameterizedTest
  @ValueSource(strings = {"/v1/chat/completions", "/v1/completions", RESPONSES, MESSAGES})
  void model_choosesItsInstances_andOneThatNoInstanceHasIsNotFound(String path) throws Exception {
    ObjectNode body = body(path.contains("completions") ? MESSAGES : path, "chats", false).put("prompt", "one");
    for (int i = 0; i < 3; i++) {
      assertThat(post(path, body).statusCode()).isEqualTo(200);
    }
    HttpResponse<String> refused = post(path, body.deepCopy().put("model", "none"));

    assertThat(OWN.calls()).isEmpty();
    assertThat(CHATS.calls()).hasSize(3);
    assertThat(refused.statusCode()).isEqualTo(404);
    JsonNode error = Tree.read(refused.body()).path("error");
    assertThat(error.path("message").asString()).isEqualTo("model must be one of /v1/models (was none)");
    if (path.equals(MESSAGES)) {
      assertThat(error.path("type").asString()).isEqualTo("not_found_error");
    } else {
      assertThat(ApiJson.text(error)).contains("\"type\":\"invalid_request_error\"", "\"param\":\"model\"",
          "\"code\":\"model_not_found\"");
    }
  }
}
