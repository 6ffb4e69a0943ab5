package io.penstock.node.trace;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Makes a trace of questions about popular documents. Batch jobs come between them: one reads new documents once, the
/// next reads one corpus from start to end again.
final class ScanGenerator implements TraceSource {
  private static final int DOCUMENTS = 300;
  private static final double DOCUMENT_BLOCKS = 14;
  private static final int CORPUS = 160;
  private static final double GAP_MILLIS = 900;
  private static final double JOB_GAP_MILLIS = 150;
  private static final int MEAN_QUESTIONS = 250;
  private static final int JOB_REQUESTS = 160;

  private final GeneratorOptions options;
  private final TraceRandom random;
  private final List<List<Long>> documents = new ArrayList<>();
  private final List<List<Long>> corpus = new ArrayList<>();
  private long nextId;
  private int made;
  private double millis;
  private int questionsLeft;
  private int jobLeft;
  private int jobs;
  private int place;

  ScanGenerator(GeneratorOptions options) {
    this.options = options;
    this.random = new TraceRandom(options.seed());
    for (int i = 0; i < DOCUMENTS; i++) {
      documents.add(blocks(random.logNormal(DOCUMENT_BLOCKS, 0.7)));
    }
    for (int i = 0; i < CORPUS; i++) {
      corpus.add(blocks(random.logNormal(DOCUMENT_BLOCKS, 0.7)));
    }
    questionsLeft = random.geometric(MEAN_QUESTIONS);
  }

  @Override
  public @Nullable TraceRequest next() {
    if (made == options.requests()) {
      return null;
    }
    made++;
    if (questionsLeft == 0 && jobLeft == 0) {
      jobs++;
      jobLeft = JOB_REQUESTS;
    }
    if (jobLeft > 0) {
      jobLeft--;
      questionsLeft = jobLeft == 0 ? random.geometric(MEAN_QUESTIONS) : 0;
      millis += random.exponential(JOB_GAP_MILLIS);
      return request(jobs % 2 == 0 ? corpus.get(place++ % CORPUS) : blocks(random.logNormal(DOCUMENT_BLOCKS, 0.7)));
    }
    questionsLeft--;
    millis += random.exponential(GAP_MILLIS);
    return request(documents.get(random.zipf(DOCUMENTS)));
  }

  /// A question about `document`, which fills one more block.
  private TraceRequest request(List<Long> document) {
    List<Long> ids = new ArrayList<>(document);
    ids.add(nextId++);
    long tokens = (long) Conversation.BLOCK_TOKENS * document.size() + random.below(Conversation.BLOCK_TOKENS) + 1;
    return new TraceRequest((long) millis, tokens, random.logNormal(200, 0.8), ids);
  }

  private List<Long> blocks(long count) {
    List<Long> ids = new ArrayList<>();
    for (long i = 0; i < Math.min(count, MOST_BLOCKS); i++) {
      ids.add(nextId++);
    }
    return ids;
  }

  private static final int MOST_BLOCKS = 200;
}
