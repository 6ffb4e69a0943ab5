package io.penstock.examples.clients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.examples.engine.transformer.EngineRole;
import io.penstock.examples.engine.transformer.ToyTransformer;
import io.penstock.examples.engine.transformer.TransformerOptions;
import io.penstock.examples.engine.transformer.TransformerServer;
import io.penstock.examples.openai.EngineServerOptions;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// OpenAI's own client for Node.js, beside an engine. It is skipped where the client is not installed: `npm install` in
/// `clients/openai`.
@Timeout(60)
final class OpenAiClientTest {
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final Path FOLDER = Path.of(System.getProperty("basedir", "")).toAbsolutePath()
      .resolve("clients/openai");

  @Test
  void client_completesStreamsAndCancels() throws Exception {
    assumeTrue(Files.isDirectory(FOLDER.resolve("node_modules/openai")), "openai is not installed in " + FOLDER);
    assumeTrue(runs("node"), "node is not installed");
    ToyTransformer model = new ToyTransformer(7, 512);
    TransformerServer server = TransformerServer.start(model,
        TransformerOptions.of(EngineRole.BOTH, null).withTokenTime(Duration.ofMillis(2)),
        EngineServerOptions.of("127.0.0.1", 0)).blockOptional(PATIENCE).orElseThrow();
    try {
      Process node = new ProcessBuilder("node", "openai.mjs", server.http().address(), model.name())
          .directory(FOLDER.toFile()).redirectErrorStream(true).start();
      String out = new String(node.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(node.waitFor()).as(out).isZero();
      assertThat(out.lines()).containsExactly("models true", "complete length true", "stream true true",
          "completion length", "cancel true", "refusal 404 true");
      long end = System.nanoTime() + Duration.ofSeconds(1).toNanos();
      while (server.engine().computedBlocks() > 0) {
        assertThat(System.nanoTime()).as("the cancelled request still computes").isLessThan(end);
        Thread.onSpinWait();
      }
    } finally {
      server.close().block(PATIENCE);
    }
  }

  private static boolean runs(String program) throws InterruptedException {
    try {
      return new ProcessBuilder(program, "--version").redirectErrorStream(true)
          .redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor() == 0;
    } catch (IOException e) {
      return false;
    }
  }
}
