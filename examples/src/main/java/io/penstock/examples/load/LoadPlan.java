package io.penstock.examples.load;

import io.penstock.check.Checks;
import io.penstock.examples.openai.ChatMessage;
import java.util.Random;
import java.util.stream.Collectors;

/// Which conversations there are. One seed gives the same conversations each time.
///
/// @param conversations number of conversations
/// @param turns of each
/// @param concurrency conversations that are held side by side
/// @param messageChars characters of each message of a user
/// @param answerTokens most tokens of an answer
public record LoadPlan(int conversations, int turns, int concurrency, int messageChars, int answerTokens, long seed) {
  private static final int SYSTEM_CHARS = 128;

  public LoadPlan {
    Checks.positive("--conversations", conversations);
    Checks.positive("--turns", turns);
    Checks.positive("--concurrency", concurrency);
    Checks.positive("--message-chars", messageChars);
    Checks.positive("--answer-tokens", answerTokens);
  }

  /// Number of requests.
  public int requests() {
    return conversations * turns;
  }

  /// The message that begins all conversations.
  ChatMessage system() {
    return new ChatMessage("system", words(new Random(seed), SYSTEM_CHARS));
  }

  /// What the user says in a turn.
  ChatMessage user(int conversation, int turn) {
    return new ChatMessage("user",
        words(new Random(seed * 31 + (long) conversation * turns + turn + 1), messageChars));
  }

  /// Most tokens of a conversation, with a token a character.
  int maxTokens() {
    return SYSTEM_CHARS + 32 + turns * (messageChars + answerTokens + 32);
  }

  private static String words(Random random, int chars) {
    return random.ints(chars, 0, 32).mapToObj(i -> i < 26 ? String.valueOf((char) ('a' + i)) : " ")
        .collect(Collectors.joining());
  }
}
