package io.penstock.examples.load;

import org.jspecify.annotations.Nullable;

/// What came back for one request.
///
/// @param status of HTTP; 0 without an answer
/// @param text of the answer
/// @param finish reason that the stream told; null if it told none
/// @param error that the answer told, or that the connection had; null if none
/// @param promptTokens from the usage
/// @param cachedTokens from the usage
/// @param tokens of the answer, from the usage
/// @param firstNanos from the request to the first text
/// @param restNanos from the first text to the last: of all tokens but those of the first text
record ChatReply(int status, String text, @Nullable String finish, @Nullable String error, int promptTokens,
    int cachedTokens, int tokens, long firstNanos, long restNanos) {
  static ChatReply failed(int status, String error) {
    return new ChatReply(status, "", null, error, 0, 0, 0, 0, 0);
  }

  boolean isWhole() {
    return error == null && finish != null;
  }

  /// An answer that looks like a success and is none.
  boolean isTruncated() {
    return status == 200 && error == null && finish == null;
  }
}
