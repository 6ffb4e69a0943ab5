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
  private static final long MAX_TOKENS = 128 << 10;

  private final GeneratorOptions options;
  private final ConversationShape shape;
  private final TraceRandom random;
  private final List<Long> promptTokens = new ArrayList<>();
  private final List<List<Long>> promptBlocks = new ArrayList<>();
  private final PriorityQueue<Conversation> underWay =
      new PriorityQueue<>(Comparator.comparingLong(Conversation::nextMillis));
  private long nextId;
  private double nextArrivalMillis;
  private int made;

  public TraceGenerator(GeneratorOptions options) {
    this(options, ConversationShape.PEOPLE);
  }

  TraceGenerator(GeneratorOptions options, ConversationShape shape) {
    this.options = options;
    this.shape = shape;
    this.random = new TraceRandom(options.seed());
    for (int i = 0; i < shape.systemPrompts(); i++) {
      addSystemPrompt(random.logNormal(shape.promptTokens(), 0.6));
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
      return turn(underWay.remove(), shape.questionTokens());
    }
    return turn(arrival(), shape.firstTokens());
  }

  private Conversation arrival() {
    int prompt = random.zipf(shape.systemPrompts());
    long startMillis = (long) nextArrivalMillis;
    nextArrivalMillis += random.exponential(shape.arrivalMillis());
    return new Conversation(promptBlocks.get(prompt), promptTokens.get(prompt), random.geometric(shape.turns()),
        startMillis,
        () -> nextId++);
  }

  private TraceRequest turn(Conversation conversation, double medianTokens) {
    TraceRequest request = conversation.turn(
        random.logNormal(medianTokens, 1.0), random.logNormal(shape.answerTokens(), 0.8),
        random.logNormal(shape.pauseMillis(), 1.0),
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
