package io.penstock.examples.jlama;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.examples.openai.EngineServer;
import io.penstock.examples.openai.EngineServerOptions;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.wire.PenstockClient;
import io.penstock.wire.PenstockNode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// A prefill engine and a decode engine, each with a model and a connection of its own, at one node.
@Timeout(120)
final class JlamaServingTest {
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final JsonMapper JSON = JsonMapper.shared();

  @TempDir
  private static Path folder;
  private static final List<Runnable> CLOSED_LAST_FIRST = new ArrayList<>();
  private static final Ask ASK = new Ask();
  private static JlamaEngine plain;
  private static String prefill;
  private static String decode;

  @BeforeAll
  static void start() throws IOException {
    Path model = folder.resolve("pico");
    new TinyLlama(2, 32, 2, 1, 8192, 42).write(model);
    plain = JlamaEngine.load(model);
    PenstockNode node = PenstockNode.start(plain.space(), 1_000).block(PATIENCE);
    CLOSED_LAST_FIRST.add(() -> node.close().block(PATIENCE));
    prefill = engine(model, JlamaServing.Role.PREFILL, node.address());
    decode = engine(model, JlamaServing.Role.DECODE, node.address());
  }

  private static String engine(Path model, JlamaServing.Role role, String node) {
    JlamaEngine engine = JlamaEngine.load(model);
    PenstockClient client = PenstockClient.connect(node, engine.space()).block(PATIENCE);
    Scheduler sender = Schedulers.newSingle("sender", true);
    EngineServer.Running server = EngineServer.start(
        new JlamaServing(engine, new JlamaCache(client, sender, PATIENCE), role, node, 2),
        EngineServerOptions.of("127.0.0.1", 0).withSlots(2), Clock.systemUTC()).block(PATIENCE);
    CLOSED_LAST_FIRST.add(() -> {
      server.close().block(PATIENCE);
      client.close().block(PATIENCE);
      sender.dispose();
      engine.close();
    });
    return server.address();
  }

  @AfterAll
  static void close() {
    CLOSED_LAST_FIRST.reversed().forEach(Runnable::run);
    plain.close();
    ASK.close();
  }

  private static int[] prompt(int tokens, long seed) {
    return new SplittableRandom(seed).ints(tokens, 3, plain.words()).toArray();
  }

  private static int[] plainAnswer(int[] prompt, int tokens) {
    try (JlamaSession session = plain.session(prompt.length + tokens)) {
      int[] answer = new int[tokens];
      answer[0] = session.forward(prompt, 0, JlamaSession.Steps.NONE);
      for (int i = 1; i < tokens; i++) {
        answer[i] = session.forward(answer[i - 1]);
      }
      return answer;
    }
  }

  @Test
  void prefillThenDecode_answerAsOneEngine_andTheNextTurnGoesOn() throws Exception {
    int[] prompt = prompt(50, 1);
    Ask.Answer first = ASK.post(prefill, "/v1/completions",
        Ask.completion(prompt, 1, JSON.readTree("{\"do_remote_decode\":true}")));
    JsonNode transfer = first.body().at("/kv_transfer_params");
    assertThat(transfer.at("/do_remote_prefill").asBoolean()).isTrue();
    assertThat(transfer.at("/remote_block_ids").size()).isEqualTo(3);

    Ask.Answer second = ASK.post(decode, "/v1/completions", Ask.completion(prompt, 20, transfer));
    assertThat(second.tokens()).isEqualTo(plainAnswer(prompt, 20)).startsWith(first.tokens());
    assertThat(second.cachedTokens()).isEqualTo(48);

    int[] nextTurn = Ask.joined(prompt, second.tokens(), prompt(10, 2));
    Ask.Answer third = ASK.complete(prefill, nextTurn, 1);
    assertThat(third.cachedTokens()).as("the prefill loads what the decode made").isEqualTo(64);
    assertThat(third.tokens()).isEqualTo(plainAnswer(nextTurn, 1));
  }

  @Test
  void prefillEngine_answersOneToken() throws Exception {
    Ask.Answer answer = ASK.complete(prefill, prompt(3, 3), 2);
    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.body().toString()).contains("max_tokens must be 1 for an engine of role prefill (was 2)");
  }

  @Test
  void texts_areTokensOfBytes() throws Exception {
    Ask.Answer tokens = ASK.post(decode, "/tokenize", JSON.createObjectNode().put("prompt", "a ü€"));
    Ask.Answer text = ASK.post(decode, "/detokenize", JSON.createObjectNode()
        .<ObjectNode>set("tokens", tokens.body().at("/tokens")));
    assertThat(text.body().at("/prompt").asString()).isEqualTo("a ü€");
    assertThat(ASK.post(decode, "/v1/chat/completions",
        (ObjectNode) JSON.readTree("""
            {"messages":[{"role":"user","content":"hi"}],"max_tokens":1,"ignore_eos":true}""")).body()
        .at("/usage/completion_tokens").asInt()).isOne();
  }

  @Test
  void command_writesAModel_andPrintsItsSpace() throws IOException {
    Path model = folder.resolve("written");
    assertThat(run("model", model.toString(), "--layers", "2", "--hidden", "32", "--heads", "2", "--kv-heads", "1"))
        .isEmpty();
    assertThat(run("space", model.toString())).contains("--model written --layers 2 --block-tokens 16")
        .contains("--fingerprint jlama-0.8.4/F32/sha256:");
  }

  private static String run(String... args) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    PrintStream to = new PrintStream(out, true, StandardCharsets.UTF_8);
    Console console = new Console(InputStream.nullInputStream(), to, new PrintStream(new ByteArrayOutputStream()),
        false, Map.of());
    assertThat(JlamaMain.run(args, console)).isEqualTo(ExitCode.OK);
    return out.toString(StandardCharsets.UTF_8);
  }
}
