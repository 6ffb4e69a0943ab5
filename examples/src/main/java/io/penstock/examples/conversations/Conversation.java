package io.penstock.examples.conversations;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.PrefixHasher;
import io.penstock.block.SpaceId;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/// One conversation: the system prompt, then question and answer, turn after turn. Its tokens are random under the
/// seed.
///
/// @param keys of all its full blocks
/// @param promptTokens length of the prompt of each turn: all that was said so far, and the new question
/// @param answeredTokens length after the answer of each turn
record Conversation(List<BlockKey> keys, List<Integer> promptTokens, List<Integer> answeredTokens) {
  static final int LEAST_QUESTION_TOKENS = 16;
  static final int MOST_QUESTION_TOKENS = 128;
  static final int LEAST_ANSWER_TOKENS = 64;
  static final int MOST_ANSWER_TOKENS = 384;
  private static final int VOCABULARY = 128_000;

  Conversation {
    keys = List.copyOf(keys);
    promptTokens = List.copyOf(promptTokens);
    answeredTokens = List.copyOf(answeredTokens);
  }

  /// @param number from 0; a conversation with another number has other tokens after the system prompt
  static Conversation of(ConversationsOptions options, int number) {
    SplittableRandom system = new SplittableRandom(options.seed());
    SplittableRandom said = new SplittableRandom(31 * options.seed() + 1 + number);
    List<Integer> prompts = new ArrayList<>();
    List<Integer> answered = new ArrayList<>();
    int length = options.systemTokens();
    for (int turn = 0; turn < options.turns(); turn++) {
      length += said.nextInt(LEAST_QUESTION_TOKENS, MOST_QUESTION_TOKENS + 1);
      prompts.add(length);
      length += said.nextInt(LEAST_ANSWER_TOKENS, MOST_ANSWER_TOKENS + 1);
      answered.add(length);
    }
    int[] tokens = new int[length];
    for (int i = 0; i < length; i++) {
      tokens[i] = (i < options.systemTokens() ? system : said).nextInt(VOCABULARY);
    }
    return new Conversation(keys(tokens), prompts, answered);
  }

  private static List<BlockKey> keys(int[] tokens) {
    PrefixHasher hasher = new PrefixHasher(List.of());
    SpaceId space = ConversationNode.SPACE.id();
    List<BlockKey> keys = new ArrayList<>();
    BlockHash hash = BlockHash.ROOT;
    int[] block = new int[ConversationNode.BLOCK_TOKENS];
    for (int at = 0; at + block.length <= tokens.length; at += block.length) {
      System.arraycopy(tokens, at, block, 0, block.length);
      hash = hasher.next(hash, block);
      keys.add(new BlockKey(space, hash));
    }
    return keys;
  }

  /// The full blocks of the prompt of a turn.
  List<BlockKey> prompt(int turn) {
    return keys.subList(0, promptTokens.get(turn) / ConversationNode.BLOCK_TOKENS);
  }

  /// The blocks that fill up while the answer of a turn is generated.
  List<BlockKey> answer(int turn) {
    return keys.subList(promptTokens.get(turn) / ConversationNode.BLOCK_TOKENS,
        answeredTokens.get(turn) / ConversationNode.BLOCK_TOKENS);
  }
}
