package io.penstock.node.trace;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/// One user's conversation: its prompt grows turn by turn, and every full block of it keeps its id.
public final class Conversation {
  /// Blocks of 512 tokens, as in the published traces.
  public static final int BLOCK_TOKENS = 512;

  private final List<Long> fullBlocks;
  private final LongSupplier newId;
  private long tokens;
  private int turnsLeft;
  private long nextMillis;

  /// @param systemPrompt ids of the full blocks shared with other conversations
  /// @param promptTokens length of the system prompt; tokens that do not fill a block are this conversation's own
  Conversation(List<Long> systemPrompt, long promptTokens, int turns, long startMillis, LongSupplier newId) {
    this.fullBlocks = new ArrayList<>(systemPrompt);
    this.tokens = promptTokens;
    this.turnsLeft = turns;
    this.nextMillis = startMillis;
    this.newId = newId;
  }

  long nextMillis() {
    return nextMillis;
  }

  boolean isOver() {
    return turnsLeft == 0;
  }

  /// The user says `questionTokens`, the model answers `answerTokens`, and the next turn comes `pauseMillis` later.
  TraceRequest turn(long questionTokens, long answerTokens, long pauseMillis, long maxTokens) {
    grow(questionTokens, maxTokens);
    List<Long> ids = new ArrayList<>(fullBlocks);
    if (tokens % BLOCK_TOKENS != 0) {
      ids.add(newId.getAsLong()); // a block still open: the next turn fills it with other tokens
    }
    TraceRequest request = new TraceRequest(nextMillis, tokens, answerTokens, ids);
    grow(answerTokens, maxTokens);
    turnsLeft = tokens >= maxTokens ? 0 : turnsLeft - 1;
    nextMillis += pauseMillis;
    return request;
  }

  private void grow(long more, long maxTokens) {
    tokens = Math.min(maxTokens, tokens + more);
    while (fullBlocks.size() < tokens / BLOCK_TOKENS) {
      fullBlocks.add(newId.getAsLong());
    }
  }
}
