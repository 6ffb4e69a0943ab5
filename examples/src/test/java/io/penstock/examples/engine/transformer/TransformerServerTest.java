package io.penstock.examples.engine.transformer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.EvictionPolicy;
import io.penstock.block.GranuleRange;
import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionState;
import io.penstock.block.session.SessionUse;
import io.penstock.examples.openai.EngineServerOptions;
import io.penstock.tier.Reservation;
import io.penstock.wire.PenstockNode;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
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

  /// The decode offloads what it generated, and the next turn's prefill pulls it: also when others need room meanwhile.
  @Test
  void pausedSession_isPulledByTheNextPrefill_thoughOthersFilledTheNode() throws Exception {
    PenstockNode small = PenstockNode.start(PenstockNode.Options.of(MODEL.space(), 40)
        .withPolicy(EvictionPolicy.SESSIONS)).blockOptional(PATIENCE).orElseThrow();
    TransformerServer first = server(TransformerOptions.of(EngineRole.PREFILL, small.address()));
    TransformerServer decoder = server(TransformerOptions.of(EngineRole.DECODE, small.address()));
    TransformerServer second = server(TransformerOptions.of(EngineRole.PREFILL, small.address()));
    try {
      String[] headers = {"X-Session-Id", "chat-1", "X-Priority", "6", "X-Session-Keep", "600"};
      int[] prompt = prompt(300, 40);
      List<Integer> answer = Http.tokens(
          Http.disaggregated(first.http().address(), decoder.http().address(), prompt, 33, headers));
      SessionUse session = new SessionUse(SessionId.of("chat-1"), 6, Duration.ofSeconds(600));
      List<BlockKey> blocks = small.tier().sessionKeys(session.session(), null, 100).blockOptional(PATIENCE)
          .orElseThrow().keys();
      assertThat(blocks).hasSize((40 + answer.size() - 1) / 16);
      assertThat(small.tier().session(session, SessionState.PAUSED).block(PATIENCE)).isTrue();
      for (int other = 0; other < 4; other++) { // each has 12 blocks
        Http.post(decoder.http().address(), "/v1/completions", Http.completion(prompt(400 + other, 200), 1));
      }
      int[] next = Arrays.copyOf(prompt, 40 + answer.size() + 5);
      for (int i = 0; i < answer.size(); i++) {
        next[40 + i] = answer.get(i);
      }
      JsonNode turn = Http.post(second.http().address(), "/v1/completions", Http.completion(next, 10), headers);
      assertThat(Http.cached(turn)).as("blocks of prompt and answer").isEqualTo(16 * blocks.size());
      assertThat(Http.tokens(turn)).isEqualTo(expected(next, 10));
    } finally {
      for (TransformerServer each : List.of(first, decoder, second)) {
        each.close().block(PATIENCE);
      }
      small.close().block(PATIENCE);
    }
  }

  /// Turn n + 1 comes while a block of turn n is being stored.
  @Test
  void turnThatComesEarly_waitsForTheBlockThatIsBeingStored() throws Exception {
    int[] prompt = prompt(500, 70);
    List<BlockKey> keys = MODEL.space().keys(Arrays.copyOf(prompt, 64));
    TransformerServer patient =
        server(TransformerOptions.of(EngineRole.PREFILL, node.address()).withPendingWait(PATIENCE));
    PenstockNode source = PenstockNode.start(MODEL.space(), 100).blockOptional(PATIENCE).orElseThrow();
    TransformerServer computing = server(TransformerOptions.of(EngineRole.BOTH, source.address()));
    try (BlockScope scope = new BlockScope()) {
      Http.post(computing.http().address(), "/v1/completions", Http.completion(prompt, 1));
      Reservation writing = node.tier().reserve(keys, scope).blockOptional(PATIENCE).orElseThrow();
      CompletableFuture<JsonNode> turn =
          Http.posted(patient.http().address(), "/v1/completions", Http.completion(prompt, 10));
      until(() -> patient.engine().computedBlocks() > 0);
      assertThat(turn).isNotDone();
      List<Block> blocks = source.tier().get(keys, scope).collectList().blockOptional(PATIENCE).orElseThrow();
      for (int i = 0; i < blocks.size(); i++) {
        BlockDraft draft = writing.drafts().get(i);
        blocks.get(i).read(from -> {
          draft.write(GranuleRange.all(draft.layout()), to -> to.copyFrom(from));
          return true;
        });
        draft.produced(GranuleRange.all(draft.layout()));
      }
      writing.commit(writing.drafts()).block(PATIENCE);
      JsonNode answer = turn.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      assertThat(Http.cached(answer)).as("loaded, not computed").isEqualTo(64);
      assertThat(Http.tokens(answer)).isEqualTo(expected(prompt, 10));
    } finally {
      computing.close().block(PATIENCE);
      patient.close().block(PATIENCE);
      source.close().block(PATIENCE);
    }
  }

  @Test
  void unlikeWeights_missInsteadOfMixing() throws Exception {
    ToyTransformer unlike = new ToyTransformer(8, 512);
    assertThat(unlike.space().difference(MODEL.space())).isPresent();
    assertThat(new ToyTransformer(7, 512).space()).isEqualTo(MODEL.space());
    TransformerServer other = TransformerServer.start(unlike, TransformerOptions.of(EngineRole.PREFILL, node.address()),
        EngineServerOptions.of("127.0.0.1", 0)).blockOptional(PATIENCE).orElseThrow();
    try {
      int[] prompt = prompt(600, 80);
      Http.post(decode.http().address(), "/v1/completions", Http.completion(prompt, 1));
      assertThat(Http.cached(Http.post(prefill.http().address(), "/v1/completions", Http.completion(prompt, 1))))
          .as("of equal weights").isEqualTo(64);
      assertThat(Http.cached(Http.post(other.http().address(), "/v1/completions", Http.completion(prompt, 1))))
          .as("of other weights, at a node that refuses their space").isZero();
    } finally {
      other.close().block(PATIENCE);
    }
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
