package io.penstock.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.node.setting.Setting;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.file.Files;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/// Requests, commands and settings that are wrong, at one gateway.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class GatewayRefusalsTest extends TwoEngines {
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
  void everySetting_hasARowInTheManual() throws IOException {
    String rows = Files.readAllLines(Path.of("docs", "settings.md")).stream().filter(line -> line.startsWith("| `"))
        .collect(Collectors.joining("\n"));
    assertThat(GatewaySettings.ALL).isNotEmpty();
    assertThat(GatewaySettings.ALL.stream().map(Setting::key).filter(key -> !rows.contains("`" + key + "`"))).isEmpty();
  }
}
