package io.penstock.gateway.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.gateway.chunk.EngineChunk;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

/// Texts in the events that are written without trees.
final class TextDeltaTest {
  private static final String TEXT = "say \"hi\" \\ /\b\f\n\r\t \u0000\u001f\u007f é € 😀  \u2028</script>";

  @ParameterizedTest
  @EnumSource(names = {"RESPONSES", "MESSAGES"})
  void deltas_areJson_whateverTheTextHas(ApiForm form) {
    AnswerWriter writer = AnswerWriter.of(form, ApiJson.object().put("model", "m"), "a\"b", 1, TokenCounts.NONE);
    StringBuilder to = new StringBuilder();
    for (String part : List.of(TEXT, "end")) {
      var chunk = ApiJson.object();
      chunk.putArray("choices").addObject().putObject("delta").put("content", part);
      writer.chunk(new EngineChunk(ApiJson.text(chunk)), to);
    }
    writer.end(to);
    StringBuilder text = new StringBuilder();
    String last = "";
    for (String line : to.toString().split("\n", -1)) {
      if (line.startsWith("event: ")) {
        last = line.substring("event: ".length());
      } else if (line.startsWith("data: ")) {
        JsonNode event = ApiJson.MAPPER.readTree(line.substring("data: ".length()));
        assertThat(event.path("type").asString()).isEqualTo(last);
        if (last.toLowerCase(Locale.ROOT).endsWith("delta") && !last.equals("message_delta")) {
          text.append(event.path("delta").isString()
              ? event.path("delta").asString()
              : event.path("delta").path("text").asString());
          assertThat(event.path(form == ApiForm.MESSAGES ? "index" : "output_index").asInt(-1)).isZero();
          assertThat(event.path("item_id").asString("msg_a\"b_0")).isEqualTo("msg_a\"b_0");
        }
      }
    }
    assertThat(text.toString()).isEqualTo(TEXT + "end");
  }
}
