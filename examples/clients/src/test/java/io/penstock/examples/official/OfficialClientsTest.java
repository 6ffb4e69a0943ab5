package io.penstock.examples.official;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

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
import io.penstock.gateway.TestGateway;
import io.penstock.gateway.engines.EngineServer;
import io.penstock.gateway.engines.KvNetwork;
import io.penstock.gateway.engines.NixlPullDecode;
import io.penstock.gateway.engines.NixlPullPrefill;
import io.penstock.wire.security.UserFile;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import reactor.netty.resources.LoopResources;

/// The clients of OpenAI and Anthropic at a gateway before a prefill and a decode engine. Those for Node.js are skipped
/// where they are not installed: `npm install` in `openai`.
@Timeout(60)
final class OfficialClientsTest {
  private static final Path FOLDER =
      Path.of(System.getProperty("basedir", "")).toAbsolutePath().resolve("openai");
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final String MODEL = "m";
  private static final String PROMPT = "one two three";
  private static final LoopResources LOOPS = LoopResources.create("engines", 1, true);
  private static final KvNetwork NETWORK = new KvNetwork();
  private static final NixlPullPrefill PREFILL = new NixlPullPrefill(NETWORK, "p0");
  private static final NixlPullDecode DECODE = new NixlPullDecode(NETWORK, List.of("p0"));

  private static String key;
  private static String poorKey;
  private static EngineServer prefill;
  private static EngineServer decode;
  private static TestGateway gateway;

  @BeforeAll
  static void start(@TempDir Path folder) throws Exception {
    char[] rich = UserFile.newToken(new SecureRandom());
    char[] poor = UserFile.newToken(new SecureRandom());
    key = new String(rich);
    poorKey = new String(poor);
    Path keys = Files.writeString(folder.resolve("keys"),
        UserFile.lineOf("rich", rich) + "\n" + UserFile.lineOf("poor", poor) + "\n");
    Path quotas = Files.writeString(folder.resolve("quotas"), "poor requests=1\n");
    prefill = EngineServer.start(() -> PREFILL, LOOPS);
    decode = EngineServer.start(() -> DECODE, LOOPS);
    gateway = TestGateway.start(Map.of("prefill", prefill.url(), "decode", decode.url(), "dialect", "nixl-pull",
        "keys.file", keys.toString(), "quotas.file", quotas.toString()), 1);
    try (HttpClient http = HttpClient.newHttpClient()) {
      HttpRequest first = HttpRequest.newBuilder(URI.create(gateway.url() + "/v1/models"))
          .header("Authorization", "Bearer " + poorKey).build();
      assertThat(http.send(first, HttpResponse.BodyHandlers.discarding()).statusCode()).isEqualTo(200);
    }
  }

  @AfterEach
  void bothSidesAreFree() {
    DECODE.running(0).block(SECOND);
    PREFILL.running(0).block(SECOND);
    assertThat(NETWORK.held() + NETWORK.waiting()).isZero();
    assertThat(DECODE.refusals()).isEmpty();
    assertThat(PREFILL.refusals()).isEmpty();
  }

  @AfterAll
  static void stop() {
    gateway.close();
    prefill.close();
    decode.close();
    LOOPS.disposeLater(Duration.ZERO, SECOND).block();
  }

  @Test
  void nodeClientOfOpenAi_hasEveryForm() throws Exception {
    assertThat(node("openai", "gateway.mjs")).containsExactly(
        "models m",
        "chat stop true",
        "chat streamed true true true",
        "chat streamed without usage true true",
        "chat of parts true",
        "chat with tools weather {\"city\": \"Oslo\"} stop",
        "completion length,length true",
        "response completed true true",
        "response streamed true true created in_progress output_item.added content_part.added output_text.delta"
            + " output_text.done content_part.done output_item.done completed",
        "response with tools weather weather {\"city\": \"Oslo\"} true",
        "cancel true",
        "unknown model NotFoundError 404 model_not_found model invalid_request_error",
        "wrong key AuthenticationError 401 invalid_api_key",
        "quota RateLimitError 429 rate_limit_exceeded true",
        "bad request BadRequestError 400 invalid_request messages",
        "stored response BadRequestError 400 previous_response_id");
  }

  @Test
  void nodeClientOfAnthropic_hasMessages() throws Exception {
    assertThat(node("@anthropic-ai/sdk", "messages.mjs")).containsExactly(
        "models m model",
        "message message end_turn true",
        "message streamed true true true true message_start content_block_start content_block_delta content_block_stop"
            + " message_delta message_stop",
        "message of parts true",
        "message with tools tool_use weather {\"city\":\"Oslo\"} end_turn",
        "cancel APIUserAbortError",
        "unknown model NotFoundError 404 not_found_error true",
        "wrong key AuthenticationError 401 authentication_error",
        "quota RateLimitError 429 rate_limit_error true",
        "bad request BadRequestError 400 invalid_request_error");
  }

  private static List<String> node(String library, String program) throws Exception {
    assumeTrue(Files.isDirectory(FOLDER.resolve("node_modules").resolve(library)),
        library + " is not installed in " + FOLDER);
    assumeTrue(runsNode(), "node is not installed");
    Process node = new ProcessBuilder("node", program, gateway.url(), key, poorKey).directory(FOLDER.toFile())
        .redirectErrorStream(true).start();
    String out = new String(node.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(node.waitFor()).as(out).isZero();
    return out.lines().toList();
  }

  private static boolean runsNode() throws InterruptedException {
    try {
      return new ProcessBuilder("node", "--version").redirectErrorStream(true)
          .redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor() == 0;
    } catch (IOException e) {
      return false;
    }
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
  void javaClientOfOpenAi_completesStreamsAndCancels() {
    OpenAIClient client = client(key);
    assertThat(client.models().list().data().stream().map(Model::validate).map(Model::id)).containsExactly(MODEL);
    ChatCompletion whole = client.chat().completions().create(chat(PROMPT).build()).validate();
    ChatCompletionAccumulator chunks = ChatCompletionAccumulator.create();
    try (StreamResponse<ChatCompletionChunk> stream = client.chat().completions().createStreaming(chat(PROMPT).build())) {
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
  void javaClientOfOpenAi_readsResponsesStrictly() {
    OpenAIClient client = client(key);
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
  void javaClientOfOpenAi_getsTypedErrors() {
    OpenAIClient client = client(key);
    OpenAIClient stranger = client("wrong");
    OpenAIClient poor = client(poorKey);

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
