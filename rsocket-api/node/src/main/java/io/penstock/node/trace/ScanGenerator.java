package io.penstock.node.trace;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// Makes a trace of questions about popular documents. Batch jobs come between them: one reads new documents once, the
/// next goes on reading one corpus, from its start again after its end.
final class ScanGenerator implements TraceSource {
  private static final double DOCUMENT_BLOCKS = 14;
  private static final int POPULAR = 300;
  private static final int CORPUS = 160;
  private static final double QUESTION_GAP_MILLIS = 900;
  private static final double JOB_GAP_MILLIS = 150;
  private static final int MEAN_QUESTIONS = 250;
  private static final int JOB_REQUESTS = 160;

  private final GeneratorOptions options;
  private final TraceRandom random;
  private final Documents documents;
  private final List<List<Long>> popular;
  private final List<List<Long>> corpus;
  private int made;
  private double millis;
  private int questionsLeft;
  private int jobLeft;
  private int jobs;
  private int place;

  ScanGenerator(GeneratorOptions options) {
    this.options = options;
    this.random = new TraceRandom(options.seed());
    this.documents = new Documents(random, DOCUMENT_BLOCKS);
    this.popular = documents.next(POPULAR);
    this.corpus = documents.next(CORPUS);
    this.questionsLeft = random.geometric(MEAN_QUESTIONS);
  }

  @Override
  public @Nullable TraceRequest next() {
    if (made == options.requests()) {
      return null;
    }
    made++;
    if (questionsLeft == 0) {
      return scan();
    }
    questionsLeft--;
    if (questionsLeft == 0) {
      jobs++;
      jobLeft = JOB_REQUESTS;
    }
    millis += random.exponential(QUESTION_GAP_MILLIS);
    return documents.question(millis, popular.get(random.zipf(POPULAR)));
  }

  private TraceRequest scan() {
    jobLeft--;
    if (jobLeft == 0) {
      questionsLeft = random.geometric(MEAN_QUESTIONS);
    }
    millis += random.exponential(JOB_GAP_MILLIS);
    return documents.question(millis, jobs % 2 == 0 ? corpus.get(place++ % CORPUS) : documents.next());
  }
}
