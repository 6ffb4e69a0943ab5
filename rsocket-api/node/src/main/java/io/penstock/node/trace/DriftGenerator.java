package io.penstock.node.trace;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Makes a trace of questions about articles, of which a new one appears every few requests. The newest are the most
/// popular, and each is forgotten in the end.
final class DriftGenerator implements TraceSource {
  private static final int ALIVE = 60;
  private static final double MEAN_AGE = 9;
  private static final double REQUESTS_AN_ARTICLE = 7;
  private static final double ARTICLE_BLOCKS = 16;
  private static final int MOST_BLOCKS = 200;
  private static final double GAP_MILLIS = 700;

  private final GeneratorOptions options;
  private final TraceRandom random;
  /// Newest last.
  private final List<List<Long>> articles = new ArrayList<>();
  private long nextId;
  private int made;
  private double millis;

  DriftGenerator(GeneratorOptions options) {
    this.options = options;
    this.random = new TraceRandom(options.seed());
    for (int i = 0; i < ALIVE; i++) {
      publish();
    }
  }

  @Override
  public @Nullable TraceRequest next() {
    if (made == options.requests()) {
      return null;
    }
    made++;
    if (random.below(1_000) < 1_000 / REQUESTS_AN_ARTICLE) {
      articles.removeFirst();
      publish();
    }
    millis += random.exponential(GAP_MILLIS);
    int age = Math.min(ALIVE - 1, random.geometric(MEAN_AGE) - 1);
    return question(articles.get(ALIVE - 1 - age));
  }

  private TraceRequest question(List<Long> article) {
    List<Long> ids = new ArrayList<>(article);
    ids.add(nextId++);
    long tokens = (long) Conversation.BLOCK_TOKENS * article.size() + random.below(Conversation.BLOCK_TOKENS) + 1;
    return new TraceRequest((long) millis, tokens, random.logNormal(200, 0.8), ids);
  }

  private void publish() {
    List<Long> ids = new ArrayList<>();
    long count = Math.min(MOST_BLOCKS, random.logNormal(ARTICLE_BLOCKS, 0.7));
    for (long i = 0; i < count; i++) {
      ids.add(nextId++);
    }
    articles.add(ids);
  }
}
