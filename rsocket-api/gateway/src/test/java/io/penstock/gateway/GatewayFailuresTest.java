package io.penstock.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/// Engines that fail, each time before a gateway of their own.
final class GatewayFailuresTest extends TwoEngines {
  @BeforeEach
  void start(@TempDir Path files) throws Exception {
    open(files);
  }

  @AfterEach
  void stop() {
    shut();
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
}
