package io.penstock.node.trace;

import java.util.ArrayList;
import java.util.List;

/// Makes documents, and questions about them: a prompt is a document and one more block. Every document is new.
final class Documents {
  private static final int MOST_BLOCKS = 200;
  private static final double SPREAD = 0.7;
  private static final double ANSWER_TOKENS = 200;

  private final TraceRandom random;
  private final double medianBlocks;
  private long nextId;

  Documents(TraceRandom random, double medianBlocks) {
    this.random = random;
    this.medianBlocks = medianBlocks;
  }

  /// The ids of the blocks of a new document.
  List<Long> next() {
    List<Long> ids = new ArrayList<>();
    long count = Math.min(MOST_BLOCKS, random.logNormal(medianBlocks, SPREAD));
    for (long i = 0; i < count; i++) {
      ids.add(nextId++);
    }
    return ids;
  }

  List<List<Long>> next(int count) {
    List<List<Long>> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      all.add(next());
    }
    return all;
  }

  /// A question about `document`, which fills one more block.
  TraceRequest question(double millis, List<Long> document) {
    List<Long> ids = new ArrayList<>(document);
    ids.add(nextId++);
    long tokens = (long) Conversation.BLOCK_TOKENS * document.size() + random.below(Conversation.BLOCK_TOKENS) + 1;
    return new TraceRequest((long) millis, tokens, random.logNormal(ANSWER_TOKENS, 0.8), ids);
  }
}
