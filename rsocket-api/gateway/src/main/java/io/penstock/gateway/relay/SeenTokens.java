package io.penstock.gateway.relay;

import java.util.Arrays;
import tools.jackson.databind.node.ArrayNode;

/// The tokens of an answer. The client has seen the text of the leading ones.
final class SeenTokens {
  private static final int FIRST_SIZE = 64;

  private int[] tokens = new int[FIRST_SIZE];
  private int count;
  private int seen;

  void add(int token) {
    if (count == tokens.length) {
      tokens = Arrays.copyOf(tokens, 2 * count);
    }
    tokens[count++] = token;
  }

  /// The client has seen all.
  void see() {
    seen = count;
  }

  void forgetUnseen() {
    count = seen;
  }

  /// Number of tokens that the client has seen.
  int seen() {
    return seen;
  }

  void addSeenTo(ArrayNode list) {
    for (int i = 0; i < seen; i++) {
      list.add(tokens[i]);
    }
  }
}
