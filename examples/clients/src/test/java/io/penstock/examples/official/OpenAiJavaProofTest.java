package io.penstock.examples.official;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.JsonValue;
import com.openai.core.http.StreamResponse;
import com.openai.errors.BadRequestException;
import com.openai.errors.NotFoundException;
import com.openai.errors.OpenAIServiceException;
import com.openai.errors.RateLimitException;
import com.openai.errors.UnauthorizedException;
import com.openai.helpers.ChatCompletionAccumulator;
import com.openai.helpers.ResponseAccumulator;
import com.openai.models.chat.completions.ChatCompletion;
import com.openai.models.chat.completions.ChatCompletionChunk;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.completions.Completion;
import com.openai.models.completions.CompletionCreateParams;
import com.openai.models.models.Model;
import com.openai.models.responses.FunctionTool;
import com.openai.models.responses.Response;
import com.openai.models.responses.ResponseCreateParams;
import com.openai.models.responses.ResponseFunctionToolCall;
import com.openai.models.responses.ResponseStreamEvent;
import io.penstock.gateway.ClientsGateway;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// OpenAI's client for Java, at a gateway before a prefill and a decode engine. Its `validate` demands every member
/// that OpenAI's reference demands.
@Tag("proof")
@Timeout(60)
final class OpenAiJavaProofTest {
  private static final String MODEL = "m";
  private static final String PROMPT = "one two three";

  private static ClientsGateway gateway;

  @BeforeAll
  static void start(@TempDir Path folder) throws Exception {
    gateway = ClientsGateway.start(folder);
  }

  @AfterEach
  void bothSidesAreFree() {
    gateway.requireFree();
  }

  @AfterAll
  static void stop() {
    gateway.close();
  }

  private static OpenAIClient client(String apiKey) {
    return OpenAIOkHttpClient.builder().baseUrl(gateway.url() + "/v1").apiKey(apiKey).maxRetries(0).build();
  }

  private static ChatCompletionCreateParams.Builder chat(String prompt) {
    return ChatCompletionCreateParams.builder().model(MODEL).addUserMessage(prompt).maxCompletionTokens(6);
  }

  private static ResponseCreateParams.Builder response() {
    return ResponseCreateParams.builder().model(MODEL).input(PROMPT).maxOutputTokens(9);
  }

  @Test
  void client_completesStreamsAndCancels() {
    OpenAIClient client = client(gateway.key());
    assertThat(client.models().list().data().stream().map(Model::validate).map(Model::id)).containsExactly(MODEL);
    ChatCompletion whole = client.chat().completions().create(chat(PROMPT).build()).validate();
    ChatCompletionAccumulator chunks = ChatCompletionAccumulator.create();
    try (StreamResponse<ChatCompletionChunk> stream =
        client.chat().completions().createStreaming(chat(PROMPT).build())) {
      stream.stream().forEach(chunk -> chunks.accumulate(chunk.validate()));
    }
    Completion completion = client.completions().create(
        CompletionCreateParams.builder().model(MODEL).prompt("one two").maxTokens(4).n(2).build()).validate();

    String text = whole.choices().getFirst().message().content().orElseThrow();
    assertThat(chunks.chatCompletion().choices().getFirst().message().content()).contains(text);
    assertThat(whole.usage().orElseThrow().promptTokensDetails().orElseThrow().cachedTokens().orElseThrow())
        .isPositive();
    assertThat(completion.choices()).hasSize(2);

    try (StreamResponse<ChatCompletionChunk> held = client.chat().completions().createStreaming(chat("hold").build())) {
      assertThat(held.stream().flatMap(chunk -> chunk.choices().stream())
          .map(choice -> choice.delta().content()).flatMap(Optional::stream).filter(one -> !one.isEmpty()).findFirst())
          .isPresent();
    }
    client.close();
  }

  @Test
  void client_readsResponsesStrictly() {
    OpenAIClient client = client(gateway.key());
    Response whole = client.responses().create(response().build()).validate();
    ResponseAccumulator events = ResponseAccumulator.create();
    try (StreamResponse<ResponseStreamEvent> stream = client.responses().createStreaming(response().build())) {
      stream.stream().forEach(event -> events.accumulate(event.validate()));
    }
    FunctionTool weather = FunctionTool.builder().name("weather").strict(false)
        .parameters(FunctionTool.Parameters.builder().putAdditionalProperty("type", JsonValue.from("object")).build())
        .build();
    Response called = client.responses().create(response().addTool(weather).build()).validate();

    assertThat(text(events.response())).isEqualTo(text(whole)).isNotEmpty();
    assertThat(events.response().usage()).isEqualTo(whole.usage());
    assertThat(whole.usage().orElseThrow().inputTokensDetails().cachedTokens()).isPositive();
    ResponseFunctionToolCall call = called.output().getFirst().asFunctionCall();
    assertThat(call.name() + " " + call.arguments()).isEqualTo("weather {\"city\": \"Oslo\"}");
    client.close();
  }

  private static String text(Response response) {
    return response.output().getFirst().asMessage().content().getFirst().asOutputText().text();
  }

  @Test
  void client_getsTypedErrors() {
    OpenAIClient client = client(gateway.key());
    OpenAIClient stranger = client("wrong");
    OpenAIClient poor = client(gateway.poorKey());

    assertThatThrownBy(() -> client.chat().completions().create(chat(PROMPT).model("none").build()))
        .isInstanceOf(NotFoundException.class)
        .satisfies(failure -> assertThat(((OpenAIServiceException) failure).code()).contains("model_not_found"));
    assertThatThrownBy(() -> stranger.responses().create(response().build())).isInstanceOf(UnauthorizedException.class)
        .satisfies(failure -> assertThat(((OpenAIServiceException) failure).code()).contains("invalid_api_key"));
    assertThatThrownBy(() -> poor.chat().completions().create(chat(PROMPT).build()))
        .isInstanceOf(RateLimitException.class).satisfies(failure -> assertThat(
            ((OpenAIServiceException) failure).headers().values("retry-after")).hasSize(1));
    assertThatThrownBy(() -> client.responses().create(response().previousResponseId("resp_1").build()))
        .isInstanceOf(BadRequestException.class)
        .satisfies(failure -> assertThat(((OpenAIServiceException) failure).param()).contains("previous_response_id"));
    List.of(client, stranger, poor).forEach(OpenAIClient::close);
  }
}
