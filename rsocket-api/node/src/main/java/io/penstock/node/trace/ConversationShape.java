package io.penstock.node.trace;

/// Lengths and times of conversations. Lengths and pauses are medians of log-normal distributions.
///
/// @param systemPrompts number of system prompts; the first is the most popular
/// @param promptTokens length of a system prompt
/// @param arrivalMillis mean time between two new conversations
/// @param turns mean number of requests of a conversation
/// @param firstTokens length of the first question, documents included
/// @param questionTokens length of each later question
/// @param answerTokens length of an answer
/// @param pauseMillis time between two requests of a conversation
record ConversationShape(int systemPrompts, double promptTokens, double arrivalMillis, double turns,
    double firstTokens, double questionTokens, double answerTokens, double pauseMillis) {
  /// People.
  static final ConversationShape PEOPLE = new ConversationShape(6, 1_500, 1_300, 4, 5_500, 350, 250, 25_000);
  /// Agents with tools.
  static final ConversationShape AGENTS = new ConversationShape(12, 7_000, 12_000, 24, 3_000, 700, 250, 4_000);
}
