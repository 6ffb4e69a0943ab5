package io.penstock.examples.jlama;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.wire.PenstockClient;
import io.penstock.wire.PenstockNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// Long conversations, with vectors that are compiled, and engines as processes.
@Tag("proof")
@Timeout(1200)
final class JlamaProofTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final long BLOCKS = 100_000;

  @TempDir
  private Path folder;

  private Path model(TinyLlama settings) throws IOException {
    Path model = folder.resolve("model");
    settings.write(model);
    return model;
  }

  private static TurnsReport turns(Path model, TurnsRun.Settings settings) {
    Scheduler sender = Schedulers.newSingle("sender", true);
    try (JlamaEngine engine = JlamaEngine.load(model)) {
      PenstockNode node = PenstockNode.start(engine.space(), BLOCKS).block(PATIENCE);
      PenstockClient client = PenstockClient.connect(node.address(), engine.space()).block(PATIENCE);
      TurnsReport report = new TurnsRun(engine, new JlamaCache(client, sender, PATIENCE), client, settings)
          .run(ended -> {});
      System.out.println(TurnsTable.of(report));
      assertThat(client.toString()).contains("arena loads: 0 of", "arena offloads: 0 of", "client: 0 of");
      client.close().block(PATIENCE);
      node.close().block(PATIENCE);
      return report;
    } finally {
      sender.dispose();
    }
  }

  private static int[] prompt(int tokens, long seed) {
    return new SplittableRandom(seed).ints(tokens, 3, 299).toArray();
  }

  private static int[] plainAnswer(JlamaEngine engine, int[] prompt, int tokens) {
    try (JlamaSession session = engine.session(prompt.length + tokens)) {
      int[] answer = new int[tokens];
      answer[0] = session.forward(prompt, 0, JlamaSession.Steps.NONE);
      for (int i = 1; i < tokens; i++) {
        answer[i] = session.forward(answer[i - 1]);
      }
      return answer;
    }
  }

  @Test
  void twoHundredConversations_areEqualToTheBit() throws IOException {
    TurnsReport report = turns(model(TinyLlama.nano(42)), new TurnsRun.Settings(200, 5, 200, 60, 32, 90, 30, 11));

    assertThat(report.unlikeAnswers()).isZero();
    assertThat(report.unlikeLogits()).as("JVM is warm").isZero();
    assertThat(report.isGood()).as("%s", report).isTrue();
  }

  @Test
  void firstTokenOfTurn5_comesSooner_atTwoThousandTokens() throws IOException {
    TurnsReport report = turns(model(TinyLlama.small(42)), new TurnsRun.Settings(3, 5, 1472, 100, 32, 0, 1, 13));
    Path page = Path.of("target", "jlama-turns.html");
    Files.createDirectories(page.getParent());
    Files.writeString(page, TurnsPage.of(report));

    assertThat(report.last().promptTokens()).isEqualTo(3 * 2000);
    assertThat(report.isGood()).isTrue();
    assertThat(report.last().speedup()).isGreaterThanOrEqualTo(8);
    assertThat(report.loadShare()).isGreaterThanOrEqualTo(0.3);
  }

  @Test
  void prefillProcess_node_decodeProcess_answerAsOne_layerByLayer() throws Exception {
    Path model = model(TinyLlama.small(7));
    try (JlamaEngine plain = JlamaEngine.load(model); Ask ask = new Ask()) {
      PenstockNode node = PenstockNode.start(plain.space(), BLOCKS).block(PATIENCE);
      try (EngineProcess prefill = EngineProcess.start(folder, "prefill", model, "prefill", node.address());
          EngineProcess decode = EngineProcess.start(folder, "decode", model, "decode", node.address())) {
        for (int round = 0; round < 10; round++) {
          int[] prompt = prompt(1000 + round, round);
          assertThat(ask.complete(prefill.address(), prompt, 1).cachedTokens()).isZero();
          if (round == 0) {
            List<String> said = prefill.layers();
            assertThat(said.indexOf("layer 0 goes to the node")).as("%s", said)
                .isBetween(0, said.lastIndexOf("layer 5 is computed"));
          }
          Ask.Answer answer = ask.complete(decode.address(), prompt, 32);
          assertThat(answer.cachedTokens()).isEqualTo(prompt.length / 16 * 16 - (prompt.length % 16 == 0 ? 16 : 0));
          assertThat(answer.tokens()).as("round %d", round).isEqualTo(plainAnswer(plain, prompt, 32));
        }
        assertThat(decode.layers()).containsSubsequence("layer 0 is loaded", "layer 5 is loaded");
      }
      node.close().block(PATIENCE);
    }
  }

  @Test
  void killedEngine_hitsAfterItsRestart() throws Exception {
    Path model = model(TinyLlama.small(9));
    try (JlamaEngine plain = JlamaEngine.load(model); Ask ask = new Ask()) {
      PenstockNode node = PenstockNode.start(plain.space(), BLOCKS).block(PATIENCE);
      int[] history = {};
      for (int turn = 0; turn < 4; turn++) {
        try (EngineProcess engine = EngineProcess.start(folder, "engine-" + turn, model, "both", node.address())) {
          int[] prompt = Ask.joined(history, prompt(turn == 0 ? 500 : 50, turn));
          Ask.Answer answer = ask.complete(engine.address(), prompt, 24);
          assertThat(answer.cachedTokens()).as("turn %d", turn).isEqualTo(Math.max(0, history.length - 1) / 16 * 16);
          assertThat(answer.tokens()).isEqualTo(plainAnswer(plain, prompt, 24));
          history = Ask.joined(prompt, answer.tokens());
          engine.kill();
        }
      }
      node.close().block(PATIENCE);
    }
  }
}
