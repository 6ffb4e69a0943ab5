package io.penstock.node.trace;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/// Makes a trace of many conversations at once: new ones arrive at random, each takes several turns with pauses to
/// think, and all start with one of a few system prompts. Lengths and pauses are log-normal; contexts end at 128 Ki
/// tokens.
///
/// Memory holds the conversations that are under way, not the trace.
public final class TraceGenerator implements TraceSource {
  private static final int SYSTEM_PROMPTS = 6;
  private static final double ARRIVAL_GAP_MILLIS = 1_300;
  private static final double MEAN_TURNS = 4;
  private static final double DOCUMENT_TOKENS = 5_500;
  private static final double QUESTION_TOKENS = 350;
  private static final double ANSWER_TOKENS = 250;
  private static final double PAUSE_MILLIS = 25_000;
  private static final long MAX_TOKENS = 128 << 10;

  private final GeneratorOptions options;
  private final TraceRandom random;
  private final List<Long> promptTokens = new ArrayList<>();
  private final List<List<Long>> promptBlocks = new ArrayList<>();
  private final PriorityQueue<Conversation> underWay =
      new PriorityQueue<>(Comparator.comparingLong(Conversation::nextMillis));
  private long nextId;
  private double nextArrivalMillis;
  private int made;

  public TraceGenerator(GeneratorOptions options) {
    this.options = options;
    this.random = new TraceRandom(options.seed());
    for (int i = 0; i < SYSTEM_PROMPTS; i++) {
      addSystemPrompt(random.logNormal(1_500, 0.6));
    }
  }

  @Override
  public @Nullable TraceRequest next() {
    if (made == options.requests()) {
      return null;
    }
    made++;
    Conversation first = underWay.peek();
    if (first != null && first.nextMillis() <= nextArrivalMillis) {
      return turn(underWay.remove(), QUESTION_TOKENS);
    }
    return turn(arrival(), DOCUMENT_TOKENS);
  }

  private Conversation arrival() {
    int prompt = random.zipf(SYSTEM_PROMPTS);
    long startMillis = (long) nextArrivalMillis;
    nextArrivalMillis += random.exponential(ARRIVAL_GAP_MILLIS);
    return new Conversation(promptBlocks.get(prompt), promptTokens.get(prompt), random.geometric(MEAN_TURNS),
        startMillis,
        () -> nextId++);
  }

  private TraceRequest turn(Conversation conversation, double medianTokens) {
    TraceRequest request = conversation.turn(
        random.logNormal(medianTokens, 1.0), random.logNormal(ANSWER_TOKENS, 0.8), random.logNormal(PAUSE_MILLIS, 1.0),
        MAX_TOKENS);
    if (!conversation.isOver()) {
      underWay.add(conversation);
    }
    return request;
  }

  private void addSystemPrompt(long tokens) {
    List<Long> blocks = new ArrayList<>();
    for (int i = 0; i < tokens / Conversation.BLOCK_TOKENS; i++) {
      blocks.add(nextId++);
    }
    promptTokens.add(tokens);
    promptBlocks.add(blocks);
  }
}
