package io.penstock.examples.clients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.gateway.ClientsGateway;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The clients of OpenAI and Anthropic for Node.js, at a gateway before a prefill and a decode engine. They are skipped
/// where they are not installed: `npm install` in `clients/openai`.
@Timeout(60)
final class GatewayClientsTest {
  private static final Path FOLDER = Path.of(System.getProperty("basedir", "")).toAbsolutePath()
      .resolve("clients/openai");

  private @TempDir Path folder;

  @Test
  void clientOfOpenAi_hasEveryForm() throws Exception {
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
  void clientOfAnthropic_hasMessages() throws Exception {
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

  private List<String> node(String library, String program) throws Exception {
    assumeTrue(Files.isDirectory(FOLDER.resolve("node_modules").resolve(library)),
        library + " is not installed in " + FOLDER);
    assumeTrue(runsNode(), "node is not installed");
    try (ClientsGateway gateway = ClientsGateway.start(folder)) {
      Process node = new ProcessBuilder("node", program, gateway.url(), gateway.key(), gateway.poorKey())
          .directory(FOLDER.toFile()).redirectErrorStream(true).start();
      String out = new String(node.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(node.waitFor()).as(out).isZero();
      gateway.requireFree();
      return out.lines().toList();
    }
  }

  private static boolean runsNode() throws InterruptedException {
    try {
      return new ProcessBuilder("node", "--version").redirectErrorStream(true)
          .redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor() == 0;
    } catch (IOException e) {
      return false;
    }
  }
}
