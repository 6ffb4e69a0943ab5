package io.penstock.examples.engine.transformer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.examples.openai.EngineServerOptions;
import io.penstock.wire.PenstockNode;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

final class TransformerServerTest {
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final ToyTransformer MODEL = new ToyTransformer(7, 512);

  private static PenstockNode node;
  private static TransformerServer prefill;
  private static TransformerServer decode;
  private static TransformerServer lonely;

  @BeforeAll
  static void start() {
    node = PenstockNode.start(MODEL.space(), 2_000).blockOptional(PATIENCE).orElseThrow();
    prefill = server(TransformerOptions.of(EngineRole.PREFILL, node.address()));
    decode = server(TransformerOptions.of(EngineRole.DECODE, node.address()));
    lonely = server(TransformerOptions.of(EngineRole.DECODE, null).withTokenTime(Duration.ofMillis(2)));
  }

  private static TransformerServer server(TransformerOptions options) {
    return TransformerServer.start(MODEL, options, EngineServerOptions.of("127.0.0.1", 0)).blockOptional(PATIENCE)
        .orElseThrow();
  }

  @AfterAll
  static void close() {
    for (TransformerServer server : List.of(prefill, decode, lonely)) {
      server.close().block(PATIENCE);
    }
    node.close().block(PATIENCE);
  }

  private static int[] prompt(long seed, int tokens) {
    return new Random(seed).ints(tokens, 0, 256).toArray();
  }

  private static List<Integer> expected(int[] prompt, int tokens) {
    try (ToyTransformer.Monolith monolith = MODEL.new Monolith()) {
      return monolith.answer(prompt, tokens);
    }
  }

  @Test
  void decode_pullsWhatThePrefillComputed_andAnswersAsTheMonolith() throws Exception {
    for (int length : List.of(1, 15, 16, 17, 33, 160)) {
      int[] prompt = prompt(length, length);
      JsonNode answer = Http.disaggregated(prefill.http().address(), lonely.http().address(), prompt, 20);
      assertThat(Http.tokens(answer)).as("%d tokens", length).isEqualTo(expected(prompt, 20));
      assertThat(Http.cached(answer)).isEqualTo((length - 1) / 16 * 16);
    }
  }

  @Test
  void nextTurn_findsPromptAndAnswer_inTheNode() throws Exception {
    int[] first = prompt(100, 100);
    List<Integer> answer =
        Http.tokens(Http.disaggregated(prefill.http().address(), decode.http().address(), first, 40));
    int[] next = Arrays.copyOf(first, 160);
    for (int i = 0; i < answer.size(); i++) {
      next[100 + i] = answer.get(i);
    }
    ObjectNode body = Http.completion(next, 10);
    JsonNode second = Http.post(prefill.http().address(), "/v1/completions", body);
    assertThat(Http.cached(second)).isEqualTo((100 + answer.size() - 1) / 16 * 16);
    assertThat(Http.tokens(second)).isEqualTo(expected(next, 10));
  }

  @Test
  void chat_repeatsItsText_inTheNextTurn() throws Exception {
    ObjectNode body = Http.JSON.createObjectNode().put("max_tokens", 40);
    body.putArray("messages").addObject().put("role", "user").put("content", "Grüße an alle, die das hier lesen");
    String text = Http.post(prefill.http().address(), "/v1/chat/completions", body).at("/choices/0/message/content")
        .asString();
    body.withArray("messages").addObject().put("role", "assistant").put("content", text);
    body.withArray("messages").addObject().put("role", "user").put("content", "more");
    JsonNode second = Http.post(prefill.http().address(), "/v1/chat/completions", body);
    assertThat(Http.cached(second)).isGreaterThanOrEqualTo(80);
  }

  @Test
  void text_ofAnyTokens_hasTheseTokens() {
    ToyText text = new ToyText();
    int[] tokens = new Random(3).ints(1_000, 0, 258).toArray();
    StringBuilder written = new StringBuilder();
    for (int token : tokens) {
      written.append(new String(text.bytes(token), StandardCharsets.UTF_8));
    }
    int[] read = text.encode(written.toString());
    assertThat(Arrays.copyOfRange(read, 1, read.length)).isEqualTo(tokens);
  }

  @Test
  void prefillThatHasGone_isComputedFor() throws Exception {
    ObjectNode body = Http.completion(prompt(9, 50), 10);
    body.putObject("kv_transfer_params").put("do_remote_prefill", true).put("remote_host", "127.0.0.1")
        .put("remote_port", 1);
    JsonNode answer = Http.post(lonely.http().address(), "/v1/completions", body);
    assertThat(Http.tokens(answer)).isEqualTo(expected(prompt(9, 50), 10));
    assertThat(Http.cached(answer)).isZero();
  }

  @Test
  void holdOfAPrompt_endsWithinASecond_whenNoDecodeComes() throws Exception {
    ObjectNode body = Http.completion(prompt(77, 64), 1);
    body.putObject("kv_transfer_params").put("do_remote_decode", true);
    JsonNode answer = Http.post(prefill.http().address(), "/v1/completions", body);
    assertThat(answer.at("/kv_transfer_params/remote_block_ids").size()).isEqualTo(4);
    long began = System.nanoTime();
    until(() -> prefill.engine().heldBlocks() == 0 && prefill.engine().computedBlocks() == 0);
    assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofMillis(1_500));
  }

  /// The link is cut as the kernel cuts it when a process is killed.
  @Test
  void blocksOfARequestThatWaits_areHeld_andFreeAtOnceWhenItsDecodeDies() throws Exception {
    TransformerServer holder = server(TransformerOptions.of(EngineRole.PREFILL, null).withClaim(Duration.ofMillis(50)));
    TransformerServer busy = server(TransformerOptions.of(EngineRole.DECODE, null).withSlots(1)
        .withTokenTime(Duration.ofMillis(5)));
    String blocks = holder.engine().address().orElseThrow();
    try (CutLink link = CutLink.to(blocks); ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      clients.execute(asking(busy, Http.completion(prompt(70, 20), 400).put("ignore_eos", true)));
      until(() -> busy.engine().computedBlocks() > 0);
      ObjectNode first = Http.completion(prompt(71, 64), 1);
      first.putObject("kv_transfer_params").put("do_remote_decode", true);
      ObjectNode transfer =
          (ObjectNode) Http.post(holder.http().address(), "/v1/completions", first).get("kv_transfer_params");
      ObjectNode second = Http.completion(prompt(71, 64), 4);
      second.set("kv_transfer_params", transfer.put("remote_port", link.port()));
      clients.execute(asking(busy, second));
      until(() -> link.connections() > 0 && holder.engine().claimedBlocks() == 0 && holder.engine().heldBlocks() > 0);
      assertThat(holder.engine().heldBlocks()).as("the claim is over, the lease is not").isEqualTo(3);

      long cut = System.nanoTime();
      link.cut();
      until(() -> holder.engine().heldBlocks() == 0);
      assertThat(Duration.ofNanos(System.nanoTime() - cut)).isLessThan(Duration.ofSeconds(1));
      busy.close().block(PATIENCE);
    } finally {
      busy.close().block(PATIENCE);
      holder.close().block(PATIENCE);
    }
  }

  /// Asks an engine that ends before it answers.
  private static Runnable asking(TransformerServer engine, ObjectNode body) {
    return () -> assertThatThrownBy(() -> Http.post(engine.http().address(), "/v1/completions", body)).isNotNull();
  }

  @Test
  void clientThatGoes_freesTheDecodeWithinASecond() throws Exception {
    String body = Http.completion(prompt(5, 40), 400).put("stream", true).put("ignore_eos", true).toString();
    try (Socket client = new Socket("127.0.0.1", port(lonely))) {
      client.getOutputStream().write(("POST /v1/completions HTTP/1.1\r\nHost: a\r\nContent-Length: " + body.length()
          + "\r\n\r\n" + body).getBytes(StandardCharsets.US_ASCII));
      assertThat(client.getInputStream().read()).isPositive();
      assertThat(lonely.engine().computedBlocks()).isPositive();
    }
    long gone = System.nanoTime();
    until(() -> lonely.engine().computedBlocks() == 0);
    assertThat(Duration.ofNanos(System.nanoTime() - gone)).isLessThan(Duration.ofSeconds(1));
  }

  private static int port(TransformerServer server) throws IOException {
    String address = server.http().address();
    return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
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
