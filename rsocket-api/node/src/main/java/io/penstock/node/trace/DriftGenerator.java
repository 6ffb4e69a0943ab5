package io.penstock.node.trace;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Makes a trace of questions about articles, of which a new one appears every few requests. The newest are the most
/// popular, and each is forgotten in the end.
final class DriftGenerator implements TraceSource {
  private static final double ARTICLE_BLOCKS = 16;
  private static final int REMEMBERED = 60;
  private static final double MEAN_AGE = 9;
  private static final int REQUESTS_AN_ARTICLE = 7;
  private static final double GAP_MILLIS = 700;

  private final GeneratorOptions options;
  private final TraceRandom random;
  private final Documents documents;
  /// Newest last.
  private final List<List<Long>> articles;
  private int made;
  private double millis;

  DriftGenerator(GeneratorOptions options) {
    this.options = options;
    this.random = new TraceRandom(options.seed());
    this.documents = new Documents(random, ARTICLE_BLOCKS);
    this.articles = new ArrayList<>(documents.next(REMEMBERED));
  }

  @Override
  public @Nullable TraceRequest next() {
    if (made == options.requests()) {
      return null;
    }
    made++;
    if (random.below(REQUESTS_AN_ARTICLE) == 0) {
      articles.removeFirst();
      articles.add(documents.next());
    }
    millis += random.exponential(GAP_MILLIS);
    int age = Math.min(REMEMBERED, random.geometric(MEAN_AGE));
    return documents.question(millis, articles.get(REMEMBERED - age));
  }
}
