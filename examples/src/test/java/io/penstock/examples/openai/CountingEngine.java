package io.penstock.examples.openai;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import tools.jackson.databind.node.JsonNodeFactory;

/// An engine whose tokens are bytes of text, and which answers with the bytes after the last one of the prompt: `a` is
/// answered by `bcd…`. A prompt with "wait" waits for a permit before each token. One with "fail" fails after a
/// token.
final class CountingEngine implements Engine {
  final Semaphore permits = new Semaphore(0);
  final CountDownLatch interrupted = new CountDownLatch(1);
  final CountDownLatch waiting = new CountDownLatch(1);

  @Override
  public String model() {
    return "counting";
  }

  @Override
  public int maxTokens() {
    return 200;
  }

  @Override
  public int[] encode(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    int[] tokens = new int[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      tokens[i] = Byte.toUnsignedInt(bytes[i]);
    }
    return tokens;
  }

  @Override
  public byte[] bytes(int token) {
    return new byte[] {(byte) token};
  }

  @Override
  public double cacheUsage() {
    return 0.25;
  }

  @Override
  public EngineResult generate(EngineRequest request, EngineOutput output) throws InterruptedException {
    int[] prompt = request.prompt();
    byte[] bytes = new byte[prompt.length];
    for (int i = 0; i < prompt.length; i++) {
      bytes[i] = (byte) prompt[i];
    }
    String text = new String(bytes, StandardCharsets.UTF_8);
    if (text.contains("refuse")) {
      throw new IllegalArgumentException("prompt must be kind (was refuse)");
    }
    output.prefilled(prompt.length - 1);
    int last = prompt[prompt.length - 1];
    for (int i = 1; i <= request.maxTokens(); i++) {
      if (text.contains("wait")) {
        waiting.countDown();
        try {
          permits.acquire();
        } catch (InterruptedException e) {
          interrupted.countDown();
          throw e;
        }
      }
      if (text.contains("fail") && i == 2) {
        throw new IllegalStateException("out of order");
      }
      if (request.stopTokens().contains(last + i)) {
        return EngineResult.of(EngineResult.Reason.STOP);
      }
      output.token(last + i);
    }
    return new EngineResult(EngineResult.Reason.LENGTH,
        request.transfer() == null ? null : JsonNodeFactory.instance.objectNode().set("got", request.transfer()));
  }
}
