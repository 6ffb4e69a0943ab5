package io.penstock.examples.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.examples.engine.transformer.EngineRole;
import io.penstock.examples.engine.transformer.ToyTransformer;
import io.penstock.examples.engine.transformer.TransformerOptions;
import io.penstock.examples.engine.transformer.TransformerServer;
import io.penstock.examples.openai.ChatMessage;
import io.penstock.examples.openai.EngineServerOptions;
import io.penstock.testkit.Eventually;
import io.penstock.wire.PenstockNode;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// Two prefills, two decodes, a node and a gateway in this process.
@Timeout(120)
final class GatewayLoadTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final int CONCURRENCY = 3;
  private static final String LONG = "a long prompt ".repeat(45);
  private static final int LONG_TOKENS = 340;
  private static final ToyTransformer MODEL = new ToyTransformer(7, 1024);

  private static final HttpClient CLIENT = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private static final List<TransformerServer> PREFILLS = new ArrayList<>();
  private static final List<TransformerServer> DECODES = new ArrayList<>();
  @TempDir
  private static Path folder;

  private static PenstockNode node;
  private static GatewayThread gateway;

  @BeforeAll
  static void start() throws Exception {
    node = PenstockNode.start(MODEL.space(), 4_000).blockOptional(PATIENCE).orElseThrow();
    for (int i = 0; i < 2; i++) {
      PREFILLS.add(server(EngineRole.PREFILL));
      DECODES.add(server(EngineRole.DECODE));
    }
    gateway = GatewayThread.start(CLIENT, folder, "--dialect", "nixl-pull", "--prefill", urls(PREFILLS), "--decode",
        urls(DECODES), "--health-interval", "100ms");
    for (TransformerServer server : DECODES) {
      gateway.admin().awaitUp(server.http().address());
    }
  }

  @AfterAll
  static void close() {
    gateway.close();
    PREFILLS.forEach(server -> server.close().block(PATIENCE));
    DECODES.forEach(server -> server.close().block(PATIENCE));
    node.close().block(PATIENCE);
    CLIENT.close();
  }

  private static TransformerServer server(EngineRole role) {
    Duration token = role == EngineRole.DECODE ? Duration.ofMillis(2) : Duration.ZERO;
    return TransformerServer
        .start(MODEL, TransformerOptions.of(role, node.address()).withTokenTime(token).withSlots(8),
            EngineServerOptions.of("127.0.0.1", 0))
        .blockOptional(PATIENCE).orElseThrow();
  }

  private static String urls(List<TransformerServer> servers) {
    return String.join(",", servers.stream().map(server -> "http://" + server.http().address()).toList());
  }

  /// A prefill is drained, removed and added again, and then a decode dies in the middle of a long answer.
  @Test
  void chats_areThoseOfTheMonolith_whileEnginesComeGoAndDie() throws Exception {
    LoadPlan plan = new LoadPlan(12, 2, CONCURRENCY, 32, 16, 7);
    LoadRun run = new LoadRun(plan, target(), System::nanoTime);
    AtomicInteger done = new AtomicInteger();
    FutureTask<ChatReply> changes = new FutureTask<>(GatewayLoadTest::change);
    LoadRun.Outcome outcome = run.run(turn -> {
      if (done.incrementAndGet() == 6) {
        Thread.startVirtualThread(changes);
      }
    }, () -> !changes.isDone());
    ChatReply longAnswer = changes.get();
    LoadReport report = LoadReport.of(plan, outcome, run.wrong(outcome.turns(), MODEL, 1));

    assertThat(report.isGood()).as(report.table()).isTrue();
    assertThat(report.requests()).isGreaterThanOrEqualTo(24);
    assertThat(report.hitRates()).isSorted();
    assertThat(report.hitRates().getLast()).isGreaterThan(0.4);
    assertThat(gateway.admin().counter("penstock_gateway_resumed_total")).isPositive();
    assertThat(longAnswer.isWhole()).as("%s", longAnswer).isTrue();
    try (ToyTransformer.Monolith monolith = MODEL.new Monolith()) {
      assertThat(longAnswer.text()).isEqualTo(MODEL.decode(monolith.answer(
          MODEL.encode(ChatMessage.prompt(List.of(new ChatMessage("user", LONG)))), LONG_TOKENS)));
    }
  }

  private static ChatReply change() throws IOException, InterruptedException, ExecutionException {
    String prefill = PREFILLS.getFirst().http().address();
    gateway.admin().drain(prefill);
    gateway.admin().remove(prefill);
    gateway.admin().add("prefill", prefill);
    FutureTask<ChatReply> answer = new FutureTask<>(() -> target().chat(chat(LONG, LONG_TOKENS, false)));
    Thread.startVirtualThread(answer);
    Eventually.holds("a decode answers at length", () -> DECODES.stream().anyMatch(GatewayLoadTest::answersAtLength));
    DECODES.stream().filter(GatewayLoadTest::answersAtLength).forEach(each -> each.close().block(PATIENCE));
    return answer.get();
  }

  /// Whether the long answer is computed there: other chats have 18 blocks at most.
  private static boolean answersAtLength(TransformerServer decode) {
    return decode.engine().computedBlocks() > CONCURRENCY * 18;
  }

  private static HttpTarget target() {
    return new HttpTarget(CLIENT, gateway.address(), System::nanoTime);
  }

  @Test
  void clientThatGoes_freesPrefillAndDecode_withinASecond() throws Exception {
    ObjectNode whileItDecodes = chat("a word", 900, true);
    HttpResponse<InputStream> answer = CLIENT.send(post(whileItDecodes), BodyHandlers.ofInputStream());
    assertThat(answer.body().read()).isEqualTo('d');
    answer.body().close();
    free();

    CompletableFuture<HttpResponse<String>> whileItComputes =
        CLIENT.sendAsync(post(chat("words ".repeat(150), 4, true)), BodyHandlers.ofString());
    Eventually.holds("a prefill computes",
        () -> PREFILLS.stream().anyMatch(server -> server.engine().computedBlocks() > 0));
    whileItComputes.cancel(true);
    free();
  }

  /// Both sides are free within a second.
  private static void free() {
    long gone = System.nanoTime();
    Eventually.holds("both sides are free",
        () -> PREFILLS.stream().allMatch(each -> each.engine().computedBlocks() + each.engine().heldBlocks() == 0)
            && DECODES.stream().allMatch(each -> each.engine().computedBlocks() == 0));
    assertThat(Duration.ofNanos(System.nanoTime() - gone)).isLessThan(Duration.ofSeconds(1));
  }

  private static ObjectNode chat(String text, int tokens, boolean ignoreEnd) {
    ObjectNode body = JsonMapper.shared().createObjectNode().put("stream", true).put("ignore_eos", ignoreEnd)
        .put("max_tokens", tokens);
    body.putObject("stream_options").put("include_usage", true);
    body.putArray("messages").addObject().put("role", "user").put("content", text);
    return body;
  }

  private static HttpRequest post(ObjectNode body) {
    return HttpRequest.newBuilder(URI.create("http://" + gateway.address() + "/v1/chat/completions"))
        .header("Content-Type", "application/json").POST(HttpRequest.BodyPublishers.ofString(body.toString())).build();
  }
}
