package io.penstock.gateway.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.ObjectNode;

class EarlyEndTest {
  @ParameterizedTest
  @ValueSource(strings = {"{'choices':[{'text':'a','finish_reason':'abort'}]}",
    "{'choices': [{'text': 'a', 'finish_reason': 'error'}], 'usage': null}",
    "{'choices':[{'text':'','finish_reason':'stop','stop_reason':'recomputed'}]}"})
  void anAnswerThatItsEngineGaveUpIsNotWhole(String text) {
    String json = text.replace('\'', '"');
    assertThat(EarlyEnd.in(new AnswerEvent.Chunk(json))).isNotNull();
    assertThat(EarlyEnd.in(new AnswerEvent.Whole((ObjectNode) Json.tree(json)))).isNotNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"{'choices':[{'text':'a','finish_reason':null}]}",
    "{'choices':[{'text':'a','finish_reason':'stop','stop_reason':'abort'}]}", "{'choices':[]}", "[]",
    "{'choices':[{'text':'\\'finish_reason\\':\\'abort\\'','finish_reason':'length'}]}",
    "{'choices':[{'finish_reason':null,'text':'\\'finish_reason\\':\\'abort\\''}]}",
    "{'choices':[{'text':'a','finish_reason'"})
  void anyOtherIs(String text) {
    assertThat(EarlyEnd.in(new AnswerEvent.Chunk(text.replace('\'', '"')))).isNull();
  }

  @Test
  void answerInAFormOfItsOwnIsWhole_ifItNamesAReason() {
    assertThat(early("{'type':'message','stop_reason':'end_turn'}")).isNull();
    assertThat(early("{'type':'message','stop_reason':null}")).isEqualTo("it names no reason");
    assertThat(early("{'object':'response','status':'incomplete'}")).isNull();
    assertThat(early("{'object':'response','status':'cancelled'}")).isEqualTo("cancelled");
  }

  private static @Nullable String early(String whole) {
    return EarlyEnd.in(new AnswerEvent.Whole((ObjectNode) Json.tree(whole.replace('\'', '"'))));
  }

  @Test
  void usageIsFoundWhereItIsAnObject() {
    assertThat(CachedTokens.hasUsage("{\"choices\":[],\"usage\":{\"prompt_tokens\":1}}")).isTrue();
    assertThat(CachedTokens.hasUsage("{\"usage\": {}}")).isTrue();
    assertThat(CachedTokens.hasUsage("{\"usage\":null,\"choices\":[{}]}")).isFalse();
    assertThat(CachedTokens.hasUsage("{\"text\":\"\\\"usage\\\":{\"}")).isFalse();
  }
}
