package io.penstock.s3.request;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/// Keys, which are bytes, as names of values, which are text. A key in UTF-8 is its own name; any other has a mark
/// before its bytes, each a character. No two keys have one name.
public final class KeyBytes {
  /// A character that stands for nothing, so that hardly any key begins with it.
  private static final char MARK = '\uFDD0';

  private KeyBytes() {}

  /// The name of `key`.
  static String name(byte[] key) {
    try {
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(key)).toString();
      return !text.isEmpty() && text.charAt(0) == MARK ? marked(key) : text;
    } catch (CharacterCodingException e) {
      return marked(key);
    }
  }

  private static String marked(byte[] key) {
    return MARK + new String(key, StandardCharsets.ISO_8859_1);
  }

  /// The key of `name`.
  public static byte[] key(String name) {
    return !name.isEmpty() && name.charAt(0) == MARK
        ? name.substring(1).getBytes(StandardCharsets.ISO_8859_1)
        : name.getBytes(StandardCharsets.UTF_8);
  }
}
