package io.penstock.examples.jlama;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.penstock.block.CacheSpace;
import io.penstock.wire.PenstockClient;
import io.penstock.wire.PenstockNode;
import io.penstock.wire.client.KvClientOptions;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// The adapter over a model that is loaded by Jlama's own code.
@Timeout(120)
final class JlamaCacheTest {
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final int ANSWER_TOKENS = 4;
  /// Blocks of the longest prompt: a token costs milliseconds here.
  private static final int BLOCKS = 3;

  @TempDir
  private static Path folder;
  private static JlamaEngine engine;
  private static Scheduler sender;

  private PenstockNode node;
  private PenstockClient client;

  @BeforeAll
  static void loadModel() throws IOException {
    Path model = folder.resolve("pico");
    pico(42).write(model);
    engine = JlamaEngine.load(model);
    sender = Schedulers.newSingle("sender", true);
  }

  /// Tests run without the second compiler. Jlama's vectors are slow then, but equal sums have equal bits from the
  /// start.
  private static TinyLlama pico(long seed) {
    return new TinyLlama(2, 32, 2, 1, 8192, seed);
  }

  @AfterAll
  static void closeModel() {
    engine.close();
    sender.dispose();
  }

  @BeforeEach
  void connect() {
    node = PenstockNode.start(engine.space(), 1_000).block(PATIENCE);
    client = connected(node.address());
  }

  /// A client whose slices hold one layer of the longest prompt.
  private static PenstockClient connected(String address) {
    PenstockClient.Options options = PenstockClient.Options.of(engine.space());
    int layers = BLOCKS * engine.space().layout().layerBytes();
    return PenstockClient.connect(address, options.withConnection(
        KvClientOptions.builder().windowBlocks(options.connection().windowBlocks()).maxSliceBytes(layers).build()))
        .block(PATIENCE);
  }

  @AfterEach
  void close() {
    assertThat(client.toString()).as("nothing leaked").contains("arena loads: 0 of", "arena offloads: 0 of",
        "client: 0 of");
    client.close().block(PATIENCE);
    node.close().block(PATIENCE);
  }

  private static JlamaCache cache(PenstockClient client) {
    return new JlamaCache(client, sender, PATIENCE);
  }

  private static int[] prompt(int tokens, long seed) {
    return new SplittableRandom(seed).ints(tokens, 3, engine.words()).toArray();
  }

  private static int[] answer(JlamaSession session, int first) {
    int[] answer = new int[ANSWER_TOKENS];
    answer[0] = first;
    for (int i = 1; i < answer.length; i++) {
      answer[i] = session.forward(answer[i - 1]);
    }
    return answer;
  }

  /// The answer of a session without a node.
  private static int[] plainAnswer(int[] prompt) {
    try (JlamaSession session = engine.session(prompt.length + ANSWER_TOKENS)) {
      return answer(session, session.forward(prompt, 0, JlamaSession.Steps.NONE));
    }
  }

  /// Keeps a prompt in the node.
  ///
  /// @return the answer of a session that computed all of it
  private int[] offload(int[] prompt) {
    try (JlamaSession session = engine.session(prompt.length + ANSWER_TOKENS)) {
      JlamaCache.Prefilled first = cache(client).prefill(session, prompt);
      assertThat(first.loaded()).isZero();
      assertThat(first.stored()).succeedsWithin(PATIENCE).isEqualTo((long) prompt.length / JlamaEngine.BLOCK_TOKENS);
      return answer(session, first.next());
    }
  }

  @Test
  void conversations_answerTheSame_andComputeWhatIsNew() {
    TurnsReport report = new TurnsRun(engine, cache(client), client,
        new TurnsRun.Settings(1, 3, 24, 12, ANSWER_TOKENS, 50, 0, 7)).run(ended -> {});

    assertThat(report.isGood()).as("%s", report).isTrue();
    assertThat(report.unlikeLogits()).isZero();
    TurnFigures last = report.last();
    assertThat(last.computed()).isLessThan(last.plainComputed() / 2);
    assertThat(last.computed() + last.loaded()).isEqualTo(last.promptTokens());
    assertThat(TurnsTable.of(report)).contains("0 of 3 answers differ, logits differ in 0");
    assertThat(TurnsPage.of(report)).contains("Time to the first token", "without a node", "turn 3");
  }

  @Test
  void rowsOfABlock_thatLiesInTwoPages_comeBack() throws IOException {
    Path model = folder.resolve("pages");
    new TinyLlama(2, 48, 3, 3, 4096, 1).write(model);
    int blocks = 90;
    int[] tokens = prompt(blocks * JlamaEngine.BLOCK_TOKENS, 3);
    try (JlamaEngine other = JlamaEngine.load(model);
        JlamaSession written = other.session(tokens.length);
        JlamaSession loaded = other.session(tokens.length)) {
      assertThat(written.pageTokens()).as("no number of whole blocks").isEqualTo(1365);
      PenstockNode its = PenstockNode.start(other.space(), blocks).block(PATIENCE);
      PenstockClient pages = PenstockClient.connect(its.address(), other.space()).block(PATIENCE);
      everyRow(tokens.length, (layer, plane, token) -> written.row(layer, plane, token)
          .set(ValueLayout.JAVA_INT, 0, token * 4 + layer * 2 + plane));
      assertThat(cache(pages).offload(written, tokens)).succeedsWithin(PATIENCE).isEqualTo((long) blocks);

      assertThat(pages.load(tokens, loaded::row).block(PATIENCE)).isEqualTo(tokens.length);

      everyRow(tokens.length, (layer, plane, token) -> assertThat(
          loaded.row(layer, plane, token).mismatch(written.row(layer, plane, token))).isEqualTo(-1));
      pages.close().block(PATIENCE);
      its.close().block(PATIENCE);
    }
  }

  private interface Place {
    void at(int layer, int plane, int token);
  }

  private static void everyRow(int tokens, Place place) {
    for (int layer = 0; layer < engine.layers(); layer++) {
      for (int plane = 0; plane < 2; plane++) {
        for (int token = 0; token < tokens; token++) {
          place.at(layer, plane, token);
        }
      }
    }
  }

  @Test
  void layer0_isComputed_whileTheOtherLayersHaveNotCome() throws IOException {
    int[] prompt = prompt(BLOCKS * JlamaEngine.BLOCK_TOKENS + 1, 5);
    int[] answer = offload(prompt);
    List<String> said = new CopyOnWriteArrayList<>();
    // What comes before layer 0 is short; layer 1 does not fit
    try (Link link = Link.thatHolds(node.address(), (BLOCKS + 2L) * engine.space().layout().layerBytes())) {
      PenstockClient slow = connected(link.address());
      try (JlamaSession session = engine.session(prompt.length + ANSWER_TOKENS);
          Listener _ = new Listener(line -> {
            said.add(line);
            if (line.equals("layer 0 is computed")) {
              link.open();
            }
          })) {
        JlamaCache.Prefilled prefilled = cache(slow).prefill(session, prompt);
        assertThat(prefilled.loaded()).isEqualTo(prompt.length - 1);
        assertThat(session.computed()).isOne();
        assertThat(said).containsSubsequence("layer 0 is loaded", "layer 0 is computed", "layer 1 is loaded",
            "layer 1 is computed");
        assertThat(answer(session, prefilled.next())).isEqualTo(answer);
      }
      slow.close().block(PATIENCE);
    }
  }

  @Test
  void layer0_goesToTheNode_beforeLayer1IsComputed() {
    int[] prompt = prompt(BLOCKS * JlamaEngine.BLOCK_TOKENS, 6); // one batch
    CompletableFuture<Void> sent = new CompletableFuture<>();
    try (JlamaSession session = engine.session(prompt.length); Listener _ = new Listener(line -> {
      if (line.equals("layer 0 goes to the node")) {
        sent.complete(null);
      } else if (line.equals("layer 1 is computed")) {
        sent.orTimeout(10, TimeUnit.SECONDS).join(); // on the thread that computes
      }
    })) {
      assertThat(cache(client).prefill(session, prompt).stored()).succeedsWithin(PATIENCE).isEqualTo((long) BLOCKS);
    }
  }

  @Test
  void flippedBit_isNoticed_andThePromptIsComputed() throws IOException {
    int[] prompt = prompt(34, 8);
    int[] answer = offload(prompt);
    try (Link link = Link.thatFlips(node.address(), 5_000)) {
      PenstockClient damaged = connected(link.address());
      try (JlamaSession session = engine.session(prompt.length + ANSWER_TOKENS)) {
        JlamaCache.Prefilled prefilled = cache(damaged).prefill(session, prompt);
        assertThat(prefilled.loaded()).isZero();
        assertThat(answer(session, prefilled.next())).isEqualTo(answer);
        assertThat(prefilled.stored()).succeedsWithin(PATIENCE);
      }
      damaged.close().block(PATIENCE);
    }
  }

  @Test
  void engineWithoutItsNode_computes() {
    int[] prompt = prompt(20, 9);
    node.close().block(PATIENCE);
    try (JlamaSession session = engine.session(prompt.length + ANSWER_TOKENS)) {
      JlamaCache.Prefilled prefilled = cache(client).prefill(session, prompt);
      assertThat(prefilled.loaded()).isZero();
      assertThat(answer(session, prefilled.next())).isEqualTo(plainAnswer(prompt));
      assertThat(prefilled.stored()).succeedsWithin(PATIENCE).isEqualTo(0L);
    }
  }

  @Test
  void otherWeights_areAnotherSpace() throws IOException {
    Path other = folder.resolve("other").resolve("pico");
    pico(43).write(other);
    try (JlamaEngine second = JlamaEngine.load(other)) {
      assertThat(second.name()).isEqualTo(engine.name());
      CacheSpace space = second.space();
      assertThat(engine.space().difference(space)).hasValueSatisfying(
          difference -> assertThat(difference.field()).isEqualTo("fingerprint"));
      assertThatThrownBy(() -> PenstockClient.connect(node.address(), space).block(PATIENCE))
          .hasMessageContaining("fingerprint");
    }
  }

  @Test
  void equalSeeds_writeEqualWeights() throws IOException {
    Path again = folder.resolve("again").resolve("pico");
    pico(42).write(again);
    assertThat(again.resolve("model.safetensors")).hasSameBinaryContentAs(folder.resolve("pico/model.safetensors"));
    assertThatIllegalArgumentException().isThrownBy(() -> new TinyLlama(2, 100, 6, 3, 8192, 1))
        .withMessage("hidden must be a multiple of heads, both > 0 (was 100, 6)");
  }

  @Test
  void sessionThatIsTooLong_isRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> engine.session(8193))
        .withMessage("tokens of a session must be from 1 to 8192 (was 8193)");
    try (JlamaSession session = engine.session(4)) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> session.forward(new int[5], 0, JlamaSession.Steps.NONE))
          .withMessage("tokens must end after 0 and at most at 4 (was 5)");
    }
  }

  /// What the adapter says about its layers.
  private static final class Listener extends AppenderBase<ILoggingEvent> implements AutoCloseable {
    private final Logger logger = (Logger) LoggerFactory.getLogger(JlamaCache.class);
    private final Consumer<String> lines;

    Listener(Consumer<String> lines) {
      this.lines = lines;
      setContext(logger.getLoggerContext());
      logger.setLevel(Level.DEBUG);
      start();
      logger.addAppender(this);
    }

    @Override
    protected void append(ILoggingEvent event) {
      lines.accept(event.getFormattedMessage());
    }

    @Override
    public void close() {
      logger.detachAppender(this);
      logger.setLevel(null);
    }
  }
}
