package io.penstock.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// Requests and answers in the forms of their endpoints, of one gateway.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class GatewayFormsTest extends TwoEngines {
  @BeforeAll
  void start(@TempDir Path files) throws Exception {
    open(files);
  }

  @BeforeEach
  void begin() {
    renew();
  }

  @AfterAll
  void stop() {
    shut();
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
  void models_areThoseOfAnEngine() throws Exception {
    assertThat(send(request(gateway.url() + "/v1/models").build()).body()).contains("\"id\":\"m\"");
    assertThat(tree(send(request(gateway.url() + "/v1/models/m").build())).path("id").asString()).isEqualTo("m");
    assertThat(send(request(gateway.url() + "/v1/models/x").build()).statusCode()).isEqualTo(404);
    HttpResponse<String> head = send(request(gateway.url() + "/v1/models").HEAD().build());
    assertThat(head.statusCode()).isEqualTo(200);
    assertThat(head.body()).isEmpty();
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
}
