package io.penstock.examples.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;

import io.penstock.examples.ConsoleCapture;
import io.penstock.examples.Examples;
import io.penstock.examples.engine.transformer.EngineRole;
import io.penstock.examples.engine.transformer.ToyTransformer;
import io.penstock.examples.engine.transformer.TransformerOptions;
import io.penstock.examples.engine.transformer.TransformerServer;
import io.penstock.examples.openai.EngineServerOptions;
import io.penstock.node.cli.ExitCode;
import io.penstock.wire.PenstockNode;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@Timeout(300)
final class LoadRunTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final ToyTransformer MODEL = new ToyTransformer(7, 1024);

  private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final List<TransformerServer> servers = new ArrayList<>();
  private PenstockNode node;

  @BeforeEach
  void start() {
    node = PenstockNode.start(MODEL.space(), 4_000).blockOptional(PATIENCE).orElseThrow();
  }

  @AfterEach
  void close() {
    servers.forEach(server -> server.close().block(PATIENCE));
    node.close().block(PATIENCE);
    client.close();
  }

  private HttpTarget engine(EngineRole role, int queue) {
    TransformerServer server = TransformerServer.start(MODEL, TransformerOptions.of(role, node.address()),
        EngineServerOptions.of("127.0.0.1", 0).withQueue(queue)).blockOptional(PATIENCE).orElseThrow();
    servers.add(server);
    return new HttpTarget(client, server.http().address(), System::nanoTime);
  }

  private PairsTarget pairs() {
    return new PairsTarget(List.of(engine(EngineRole.PREFILL, 256), engine(EngineRole.PREFILL, 256)),
        List.of(engine(EngineRole.DECODE, 256), engine(EngineRole.DECODE, 256)), System::nanoTime);
  }

  @Test
  void pairsWithoutAGateway_answerAsTheMonolith_andHitsGrowWithTurns() throws Exception {
    LoadPlan plan = new LoadPlan(4, 2, 4, 48, 16, 7);
    LoadRun run = new LoadRun(plan, pairs(), System::nanoTime);
    LoadRun.Outcome outcome = run.run(turn -> {});
    LoadReport report = LoadReport.of(plan, outcome, run.wrong(outcome.turns(), MODEL, 1));
    assertThat(report.isGood()).as(report.table()).isTrue();
    assertThat(report.requests()).isEqualTo(8);
    assertThat(report.hitRates().getLast()).isGreaterThan(0.5);
    assertThat(report.table()).contains("load: 8 requests, ", "0 errors, 0 truncated, 0 wrong");
    assertThat(LoadReport.table(report, report)).contains("first token, with the cache", "per token, without",
        "without: 8 requests, ");
    assertThat(servers).allMatch(server -> server.engine().computedBlocks() == 0);
  }

  @Test
  void otherWeights_areSeenAsWrong() throws Exception {
    LoadPlan plan = new LoadPlan(1, 1, 1, 48, 24, 7);
    LoadRun run = new LoadRun(plan, engine(EngineRole.BOTH, 16), System::nanoTime);
    assertThat(run.wrong(run.run(turn -> {}).turns(), new ToyTransformer(8, 1024), 1)).isOne();
  }

  @Test
  void timePerToken_isOfAnAnswer_howeverItsTokensAreRead() {
    ChatReply together = new ChatReply(200, "abcde", "stop", null, 1, 0, 5, 1_000_000, 8_000_000);
    LoadPlan plan = new LoadPlan(1, 1, 1, 48, 24, 7);
    LoadRun.Turn turn = new LoadRun.Turn(0, List.of(), together);
    LoadReport report = LoadReport.of(plan, new LoadRun.Outcome(List.of(turn), 10_000_000), -1);

    assertThat(report.perToken().p50()).isCloseTo(2, offset(0.01));
  }

  @Test
  void targetThatDoesNotAnswer_isNoLoad() {
    ConsoleCapture capture = new ConsoleCapture();

    assertThat(Examples.run(new String[] {"load", "--target", "127.0.0.1:1"}, capture.console()))
        .isEqualTo(ExitCode.UNAVAILABLE);
    assertThat(capture.err()).contains("--target must be where an endpoint answers (was 127.0.0.1:1): ");
    assertThat(capture.out()).isEmpty();
  }

  @Test
  void overload_isRefused_andCounted() throws Exception {
    LoadPlan plan = new LoadPlan(16, 1, 16, 48, 24, 7);
    LoadRun.Outcome outcome =
        new LoadRun(plan, engine(EngineRole.BOTH, 1), System::nanoTime).run(turn -> {});
    LoadReport report = LoadReport.of(plan, outcome, -1);
    assertThat(report.requests()).isEqualTo(16);
    assertThat(report.truncated()).isZero();
    assertThat(report.reasons().keySet()).allMatch(reason -> reason.startsWith("503 "));
    assertThat(report.errors()).isBetween(1, 15);
  }

  /// 2 prefills, 2 decodes, a node and a gateway as processes, 1,000 requests at a concurrency of 32, with and without
  /// the cache.
  @Test
  @Tag("proof")
  @Timeout(1800)
  void processes_answerAsTheMonolith() {
    JsonNode report = load();
    assertThat(report.at("/with/requests").asInt()).isEqualTo(1_000);
    assertThat(report.at("/with/wrong").asInt()).isZero();
    List<Double> hits = report.at("/with/hitRates").valueStream().map(JsonNode::asDouble).toList();
    assertThat(hits).isSorted();
    assertThat(hits.getLast()).isGreaterThan(0.6);
    assertThat(report.at("/without/wrong").asInt()).isZero();
    assertThat(report.at("/without/hitRates/4").asDouble()).isZero();
  }

  /// The same load, while each engine in turn is drained, removed and added again, and a decode and a prefill get
  /// SIGKILL.
  @Test
  @Tag("proof")
  @Timeout(1800)
  void processes_answerAsTheMonolith_whileEnginesComeGoAndDie() {
    JsonNode report = load("--failures");
    JsonNode load = report.path("load");
    assertThat(load.path("requests").asInt()).isGreaterThanOrEqualTo(1_000);
    assertThat(load.path("errors").asInt()).isZero();
    assertThat(load.path("truncated").asInt()).isZero();
    assertThat(load.path("wrong").asInt()).isZero();
    assertThat(report.at("/disruptions/steps").size()).isEqualTo(6);
    assertThat(report.at("/disruptions/resumed").asInt()).isPositive();
    assertThat(report.at("/deadDecode/heldMillis").asInt()).isGreaterThan(1_000);
    assertThat(report.at("/deadDecode/freeMillis").asDouble()).isLessThan(1_000);
  }

  /// Runs the command, whose exit code tells that no answer failed.
  private static JsonNode load(String... more) {
    ConsoleCapture capture = new ConsoleCapture();
    List<String> arguments = new ArrayList<>(List.of("load", "--json"));
    arguments.addAll(List.of(more));
    assertThat(Examples.run(arguments.toArray(String[]::new), capture.console())).as(capture.out() + capture.err())
        .isZero();
    System.out.println(capture.out());
    return JsonMapper.shared().readTree(capture.out());
  }
}
