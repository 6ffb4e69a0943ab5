package io.penstock.gateway.prompt;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.gateway.choice.PromptBlocks;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;
import reactor.test.scheduler.VirtualTimeScheduler;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

final class PromptTokensTest {
  private static final int BLOCK = 4;
  private static final PromptTokens GIVEN = new GivenTokens(BLOCK);
  private static final PromptTokens PIECES = new TextPieces(BLOCK);

  private final VirtualTimeScheduler timer = VirtualTimeScheduler.create();
  private final List<ObjectNode> questions = new ArrayList<>();

  private static PromptRequest request(String json) {
    return new PromptRequest((ObjectNode) JsonMapper.shared().readTree(json), null);
  }

  private static NamedPrompt known(PromptTokens by, String json) {
    return requireNonNull(by.of(request(json)).block());
  }

  private EngineTokens engine(long cachedBlocks, int concurrency, Tokenizer tokenizer) {
    return new EngineTokens(tokenizer,
        new EngineTokens.Options(BLOCK, cachedBlocks, concurrency, Duration.ofMillis(250)), timer);
  }

  /// A token for each character.
  private Mono<int[]> chars(ObjectNode question) {
    questions.add(question);
    String text = question.has("prompt") ? question.get("prompt").asString() : question.get("messages").toString();
    return Mono.just(text.chars().toArray());
  }

  @Test
  void givenTokens_areTakenAsTheyAre() {
    int[] tokens = IntStream.rangeClosed(1, 10).toArray();
    NamedPrompt prompt = known(GIVEN, "{\"prompt\": [1,2,3,4,5,6,7,8,9,10]}");
    assertThat(prompt.names()).isEqualTo(PromptBlocks.names(PromptBlocks.ROOT, tokens, BLOCK)).hasSize(2);
    assertThat(prompt.tokens()).isEqualTo(10);
    assertThat(prompt.isExact()).isTrue();
    assertThat(known(GIVEN, "{\"prompt\": [[1,2,3,4],[5]]}").names()).as("the first of several")
        .containsExactly(prompt.names()[0]);
    assertThat(known(GIVEN, "{\"prompt\": [1,2,3,4], \"cache_salt\": \"t\"}").names())
        .containsExactly(PromptBlocks.names(PromptBlocks.root(null, "t"), new int[] {1, 2, 3, 4}, BLOCK));
    assertThat(prompt.prompt(BLOCK, 99, "s").session()).isEqualTo("s");
  }

  @ParameterizedTest
  @ValueSource(strings = {"{}", "{\"prompt\": \"text\"}", "{\"prompt\": []}", "{\"prompt\": [1, \"x\"]}",
    "{\"prompt\": [1, 99999999999]}", "{\"prompt\": [1.5]}", "{\"prompt\": {}}", "{\"messages\": []}"})
  void otherPrompts_areNotGivenTokens_andNoErrorEither(String json) {
    assertThat(GIVEN.of(request(json)).blockOptional()).isEmpty();
    assertThat(known(PIECES, json).isExact()).isFalse();
  }

  @Test
  void pieces_chain_andEstimateTokens() {
    String text = "x".repeat(40);
    NamedPrompt one = known(PIECES, "{\"prompt\": \"" + text + "\"}");
    NamedPrompt longer = known(PIECES, "{\"prompt\": \"" + text + "and more, much more\"}");
    assertThat(one.names()).hasSize(2);
    assertThat(one.tokens()).isEqualTo(10);
    assertThat(longer.names()).startsWith(one.names()).hasSize(3);
    String turn = "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"" + text + "\"}]}";
    NamedPrompt first = known(PIECES, "{\"messages\":[" + turn + "]}");
    NamedPrompt second = known(PIECES, "{\"messages\":[" + turn + "," + turn + "]}");
    assertThat(second.names()).startsWith(first.names());
    assertThat(known(PIECES, "{\"tools\":[{\"name\":\"f\"}],\"messages\":[" + turn + "]}").names()[0])
        .isNotEqualTo(first.names()[0]);
  }

  @Test
  void text_isKnownByTheEngine_andRemembered() {
    EngineTokens engine = engine(1000, 4, this::chars);
    PromptTokens all = PromptTokens.firstOf(List.of(GIVEN, engine, PIECES));
    NamedPrompt prompt = known(all, "{\"model\":\"m\",\"prompt\":\"abcdefgh\",\"max_tokens\":5}");
    assertThat(prompt.isExact()).isTrue();
    assertThat(prompt.names())
        .isEqualTo(PromptBlocks.names(PromptBlocks.ROOT, "abcdefgh".chars().toArray(), BLOCK));
    assertThat(known(all, "{\"model\":\"m\",\"prompt\":\"abcdefgh\",\"max_tokens\":6}").names())
        .isEqualTo(prompt.names());
    assertThat(questions).hasToString("[{\"model\":\"m\",\"prompt\":\"abcdefgh\"}]");
    assertThat(known(all, "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}],\"tools\":[1]}")
        .isExact()).isTrue();
    assertThat(questions.getLast().propertyNames()).containsExactly("model", "messages", "tools");
    assertThat(known(all, "{\"prompt\":[1,2,3,4]}").tokens()).as("no question").isEqualTo(4);
    assertThat(engine.asked()).isEqualTo(2);
  }

  @Test
  void cache_isBounded_theOneUsedLongestAgoGoes() {
    EngineTokens engine = engine(60, 4, this::chars); // three prompts of 18
    for (String text : List.of("aaaaaaaa", "bbbbbbbb", "cccccccc", "aaaaaaaa", "dddddddd", "aaaaaaaa", "bbbbbbbb")) {
      known(engine, "{\"prompt\":\"" + text + "\"}");
    }
    assertThat(engine.asked()).as("b went for d").isEqualTo(5);
  }

  @Test
  void engineThatFails_orIsLate_orIsBusy_costsNoRequest() {
    EngineTokens failing = engine(1000, 4, question -> Mono.error(new IOException("gone")));
    PromptTokens all = PromptTokens.firstOf(List.of(GIVEN, failing, PIECES));
    assertThat(known(all, "{\"prompt\":\"text\"}").isExact()).isFalse();
    assertThat(failing.unknown()).isEqualTo(1);

    EngineTokens busy = engine(1000, 2, question -> Mono.never());
    CompletableFuture<NamedPrompt> first = busy.of(request("{\"prompt\":\"a\"}")).toFuture();
    CompletableFuture<NamedPrompt> second = busy.of(request("{\"prompt\":\"b\"}")).toFuture();
    assertThat(busy.of(request("{\"prompt\":\"c\"}")).blockOptional()).isEmpty();
    assertThat(busy.asked()).isEqualTo(2);
    assertThat(first).isNotDone();
    timer.advanceTimeBy(Duration.ofMillis(250));
    assertThat(first).isCompletedWithValue(null);
    assertThat(second).isCompletedWithValue(null);
    assertThat(busy.unknown()).isEqualTo(3);
    busy.of(request("{\"prompt\":\"d\"}")).toFuture().cancel(true);
    CompletableFuture<NamedPrompt> last = busy.of(request("{\"prompt\":\"e\"}")).toFuture();
    assertThat(busy.asked()).as("a cancelled question counts no longer").isEqualTo(4);
    last.cancel(true);
  }

  @Test
  void endpointOfAnEngine_isAsked() {
    DisposableServer server = HttpServer.create().host("127.0.0.1").port(0)
        .route(routes -> routes.post("/tokenize", (request, response) -> response.sendString(
            request.receive().aggregate().asString().map(body -> body.contains("refuse")
                ? "[]"
                : "{\"count\":3,\"max_model_len\":9,\"more\":{\"tokens\":[7]},\"tokens\":[1,2,300000]}"))))
        .bindNow();
    try {
      Tokenizer tokenizer =
          new HttpTokenizer(HttpClient.create(), () -> URI.create("http://127.0.0.1:" + server.port()));
      assertThat(tokenizer.tokens(request("{\"prompt\":\"x\"}").body()).block()).containsExactly(1, 2, 300_000);
      assertThatThrownBy(() -> tokenizer.tokens(request("{\"prompt\":\"refuse\"}").body()).block())
          .hasRootCauseMessage("answer must be a JSON object (was not)");
      Tokenizer lost =
          new HttpTokenizer(HttpClient.create(), () -> URI.create("http://127.0.0.1:" + server.port() + "/other/"));
      assertThat(lost.tokens(request("{\"prompt\":\"x\"}").body()).block()).hasSize(3);
    } finally {
      server.disposeNow();
    }
  }

  @Test
  void answers_ofWhateverForm_areReadOrRefused() throws IOException {
    assertThat(HttpTokenizer.parsed(bytes("{\"tokens\":" + IntStream.range(0, 1000).boxed().toList() + "}")))
        .hasSize(1000);
    for (String bad : List.of("", "{", "{}", "{\"tokens\":3}", "{\"tokens\":[1,", "{\"tokens\":[\"x\"]}",
        "{\"tokens\":[99999999999]}", "{\"tokens\":[1.5e99]}", "{\"tokens\":[null]}")) {
      assertThatThrownBy(() -> HttpTokenizer.parsed(bytes(bad))).as(bad).isInstanceOf(IOException.class)
          .hasMessageContaining("must");
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
