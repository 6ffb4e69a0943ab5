package io.penstock.gateway.chunk;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

final class EngineChunkTest {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private static EngineChunk chunk(String json) {
    return new EngineChunk(json.replace('\'', '"'));
  }

  @Test
  void fieldsOfAChat_areRead() {
    EngineChunk chunk = chunk("{'id':'c','choices':[{'index':0,'delta':{'content':'a\\n\\u00e9','role':'assistant'},"
        + "'logprobs':null,'finish_reason':'stop','stop_reason':null,'token_ids':[7,8,9,10,11]}]}");

    assertThat(chunk.content()).isEqualTo("a\né");
    assertThat(chunk.text()).isEmpty();
    assertThat(chunk.finish()).isEqualTo("stop");
    assertThat(chunk.tokenIds()).containsExactly(7, 8, 9, 10, 11);
    assertThat(chunk.choices()).isEqualTo(1);
    assertThat(chunk.hasCalls() || chunk.hasThoughts() || chunk.hasPromptIds() || chunk.hasUsage()).isFalse();
  }

  @Test
  void fieldsOfTheFirstChoiceCount() {
    EngineChunk chunk = chunk("{'choices':[{'text':'one','prompt_token_ids':[1],'token_ids':null},"
        + "{'text':'two','finish_reason':'length','token_ids':[5]}],'usage':{'prompt_tokens':1}}");

    assertThat(chunk.text()).isEqualTo("one");
    assertThat(chunk.finish()).isNull();
    assertThat(chunk.tokenIds()).isNull();
    assertThat(chunk.choices()).isEqualTo(2);
    assertThat(chunk.hasPromptIds()).isTrue();
    assertThat(chunk.hasUsage()).isTrue();
  }

  @Test
  void callsAndThoughts_areSeen_unlessTheyAreEmpty() {
    assertThat(chunk("{'choices':[{'delta':{'tool_calls':[{'index':0,'function':{'arguments':'{}'}}]}}]}").hasCalls())
        .isTrue();
    assertThat(chunk("{'choices':[{'delta':{'tool_calls':[],'reasoning':''}}]}").hasCalls()).isFalse();
    assertThat(chunk("{'choices':[{'delta':{'reasoning_content':'hm','content':'a'}}]}").hasThoughts()).isTrue();
    assertThat(chunk("{'choices':[{'delta':{'tool_calls':[],'reasoning':'','content':'a'}}]}").content())
        .isEqualTo("a");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "[DONE]", "[1]", "{'choices':[{'text':'a'", "{'choices':null}", "{'choices':[3]}",
    "{'choices':[{'delta':'x','text':5,'token_ids':{'a':[1]},'finish_reason':[1]}]}"})
  void textOfAnotherForm_hasNoFields(String json) {
    EngineChunk chunk = chunk(json);

    assertThat(chunk.content() + chunk.text()).isEmpty();
    assertThat(chunk.finish()).isNull();
    assertThat(chunk.tokenIds()).isNull();
    assertThat(chunk.withoutTokenIds()).isSameAs(chunk);
  }

  @ParameterizedTest
  @ValueSource(strings = {"{'token_ids':[1,2],'text':'a'}", "{'text':'a','token_ids':[1,2]}", "{'token_ids':[]}",
    "{'index': 0, 'token_ids' : [ 1 , 2 ] , 'text':'\\'token_ids\\':[3]'}", "{ 'token_ids': [1] }",
    "{'text':'[\\u20ac]','token_ids':[4], 'delta':{'token_ids':[9]}}"})
  void tokenIds_areCutOut_andNothingElse(String choice) {
    String json = ("{'id':'é€','choices':[" + choice.replace("\\'", "\\\"") + "],'model':'m'}").replace('\'', '"');
    ObjectNode wanted = (ObjectNode) MAPPER.readTree(json);
    ((ObjectNode) wanted.path("choices").path(0)).remove("token_ids");
    EngineChunk cut = new EngineChunk(json).withoutTokenIds();

    assertThat(MAPPER.readTree(cut.json())).isEqualTo(wanted);
    assertThat(cut.tokenIds()).isNull();
    assertThat(cut.text()).isEqualTo(wanted.path("choices").path(0).path("text").asString(""));
  }
}
