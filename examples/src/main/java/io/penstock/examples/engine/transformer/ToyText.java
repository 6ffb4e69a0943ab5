package io.penstock.examples.engine.transformer;

import io.penstock.examples.disaggregated.model.ByteTokenizer;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// Text of tokens that are bytes, such that the text of any answer has the tokens of the answer: tokens that are no
/// printable ASCII are characters of the private use area.
final class ToyText {
  /// Character of token 0.
  private static final int PRIVATE = 0xE000;

  private final byte[][] bytes = new byte[ByteTokenizer.TOKENS][];

  ToyText() {
    for (int token = 0; token < bytes.length; token++) {
      int character = isPlain(token) ? token : PRIVATE + token;
      bytes[token] = Character.toString(character).getBytes(StandardCharsets.UTF_8);
    }
  }

  private static boolean isPlain(int token) {
    return token == '\n' || (token >= ' ' && token < 127);
  }

  /// UTF-8 of the character of a token.
  byte[] bytes(int token) {
    return bytes[token].clone();
  }

  /// The tokens of `text`, after the one that begins a text.
  int[] encode(String text) {
    ByteArrayOutputStream utf8 = new ByteArrayOutputStream();
    int[] begin = ByteTokenizer.encode("");
    int[] tokens = Arrays.copyOf(begin, begin.length + 4 * text.length());
    int count = begin.length;
    for (int i = 0; i < text.length();) {
      int character = text.codePointAt(i);
      i += Character.charCount(character);
      if (character >= PRIVATE && character < PRIVATE + ByteTokenizer.TOKENS) {
        tokens[count++] = character - PRIVATE;
      } else {
        utf8.writeBytes(Character.toString(character).getBytes(StandardCharsets.UTF_8));
        for (byte each : utf8.toByteArray()) {
          tokens[count++] = Byte.toUnsignedInt(each);
        }
        utf8.reset();
      }
    }
    return Arrays.copyOf(tokens, count);
  }
}
