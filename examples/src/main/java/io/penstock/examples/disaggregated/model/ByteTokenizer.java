package io.penstock.examples.disaggregated.model;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// A byte is a token; two more tokens begin and end a text.
public final class ByteTokenizer {
  static final int BEGIN = 256;
  public static final int END = 257;
  /// Number of tokens.
  public static final int TOKENS = 258;

  private ByteTokenizer() {}

  /// The tokens of `text` in UTF-8, after one that begins it.
  public static int[] encode(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    int[] tokens = new int[bytes.length + 1];
    tokens[0] = BEGIN;
    for (int i = 0; i < bytes.length; i++) {
      tokens[i + 1] = Byte.toUnsignedInt(bytes[i]);
    }
    return tokens;
  }

  /// The text of the tokens that are bytes. Bytes that are not UTF-8 become U+FFFD.
  public static String decode(List<Integer> tokens) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    tokens.stream().filter(token -> token < BEGIN).forEach(bytes::write);
    return bytes.toString(StandardCharsets.UTF_8);
  }
}
