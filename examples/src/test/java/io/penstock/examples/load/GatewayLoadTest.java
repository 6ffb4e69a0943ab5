package io.penstock.examples.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.examples.engine.transformer.EngineRole;
import io.penstock.examples.engine.transformer.ToyTransformer;
import io.penstock.examples.engine.transformer.TransformerOptions;
import io.penstock.examples.engine.transformer.TransformerServer;
import io.penstock.examples.openai.EngineServerOptions;
import io.penstock.wire.PenstockNode;
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
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// Two prefills, two decodes, a node and a gateway in this process.
@Timeout(120)
final class GatewayLoadTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final ToyTransformer MODEL = new ToyTransformer(7, 1024);

  private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final List<TransformerServer> prefills = new ArrayList<>();
  private final List<TransformerServer> decodes = new ArrayList<>();
  private @TempDir Path folder;
  private PenstockNode node;
  private GatewayThread gateway;

  @BeforeEach
  void start() throws Exception {
    node = PenstockNode.start(MODEL.space(), 4_000).blockOptional(PATIENCE).orElseThrow();
    for (int i = 0; i < 2; i++) {
      prefills.add(server(TransformerOptions.of(EngineRole.PREFILL, node.address())));
      decodes.add(server(TransformerOptions.of(EngineRole.DECODE, node.address()).withTokenTime(Duration.ofMillis(2))));
    }
    gateway = GatewayThread.start(client, folder, "--dialect", "nixl-pull", "--prefill", urls(prefills), "--decode",
        urls(decodes), "--health-interval", "100ms");
    for (TransformerServer server : decodes) {
      gateway.admin().awaitUp(server.http().address());
    }
  }

  @AfterEach
  void close() throws Exception {
    gateway.close();
    prefills.forEach(server -> server.close().block(PATIENCE));
    decodes.forEach(server -> server.close().block(PATIENCE));
    node.close().block(PATIENCE);
    client.close();
  }

  private static TransformerServer server(TransformerOptions options) {
    return TransformerServer.start(MODEL, options.withSlots(8), EngineServerOptions.of("127.0.0.1", 0))
        .blockOptional(PATIENCE).orElseThrow();
  }

  private static String urls(List<TransformerServer> servers) {
    return String.join(",", servers.stream().map(server -> "http://" + server.http().address()).toList());
  }

  /// One decode ends in mid-stream, one prefill is drained and removed.
  @Test
  void chats_areThoseOfTheMonolith_whileADecodeDies_andAPrefillIsRemoved() throws Exception {
    LoadPlan plan = new LoadPlan(20, 3, 8, 48, 24, 7);
    LoadRun run = new LoadRun(plan, new HttpTarget(client, gateway.address(), System::nanoTime), System::nanoTime);
    AtomicInteger done = new AtomicInteger();
    CompletableFuture<Void> removal = new CompletableFuture<>();
    LoadRun.Outcome outcome = run.run(turn -> {
      int now = done.incrementAndGet();
      if (now == 15) {
        Thread.startVirtualThread(() -> removal.completeAsync(this::removePrefill, Runnable::run));
      } else if (now == 25) {
        decodes.getFirst().close().subscribe();
      }
    });
    removal.get();
    LoadReport report = LoadReport.of(plan, outcome, run.wrong(outcome.turns(), MODEL, 2));

    assertThat(report.isGood()).as(report.table()).isTrue();
    assertThat(report.requests()).isEqualTo(60);
    assertThat(report.hitRates()).isSorted();
    assertThat(report.hitRates().getLast()).isGreaterThan(0.5);
    assertThat(gateway.admin().counter("penstock_gateway_resumed_total")).isPositive();
  }

  private Void removePrefill() {
    try {
      String name = prefills.getFirst().http().address();
      gateway.admin().drain(name);
      gateway.admin().remove(name);
      return null;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void clientThatGoes_freesPrefillAndDecode_withinASecond() throws Exception {
    ObjectNode whileItDecodes = chat("a word", 900);
    HttpResponse<InputStream> answer = client.send(post(whileItDecodes), BodyHandlers.ofInputStream());
    assertThat(answer.body().read()).isEqualTo('d');
    answer.body().close();
    free();

    CompletableFuture<HttpResponse<String>> whileItComputes =
        client.sendAsync(post(chat("words ".repeat(150), 4)), BodyHandlers.ofString());
    until(() -> prefills.stream().anyMatch(server -> server.engine().computedBlocks() > 0));
    whileItComputes.cancel(true);
    free();
  }

  /// Both sides are free within a second.
  private void free() {
    long gone = System.nanoTime();
    until(() -> prefills.stream().allMatch(each -> each.engine().computedBlocks() + each.engine().heldBlocks() == 0)
        && decodes.stream().allMatch(each -> each.engine().computedBlocks() == 0));
    assertThat(Duration.ofNanos(System.nanoTime() - gone)).isLessThan(Duration.ofSeconds(1));
  }

  private static ObjectNode chat(String text, int tokens) {
    ObjectNode body = JsonMapper.shared().createObjectNode().put("stream", true).put("ignore_eos", true)
        .put("max_tokens", tokens);
    body.putArray("messages").addObject().put("role", "user").put("content", text);
    return body;
  }

  private HttpRequest post(ObjectNode body) {
    return HttpRequest.newBuilder(URI.create("http://" + gateway.address() + "/v1/chat/completions"))
        .header("Content-Type", "application/json").POST(HttpRequest.BodyPublishers.ofString(body.toString())).build();
  }

  private interface Condition {
    boolean holds();
  }

  private static void until(Condition condition) {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (!condition.holds()) {
      assertThat(System.nanoTime()).isLessThan(end);
      Thread.onSpinWait();
    }
  }
}
