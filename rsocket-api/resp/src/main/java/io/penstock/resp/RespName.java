package io.penstock.resp;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/// Names of values for keys, which are bytes. A key of the database 0 that is UTF-8 is its own name, so that other
/// clients of the node find its value. Any other has a name that begins with U+0001: no two keys have one name.
///
/// | Key | Name |
/// |---|---|
/// | `chunk` of database 0 | `chunk` |
/// | `chunk` of database 3 | U+0001 `3t` `chunk` |
/// | bytes `ff 00` of database 3 | U+0001 `3b` `_wA` |
final class RespName {
  /// Longest name of a value.
  private static final int MOST_BYTES = 2048;
  private static final int MOST_DIGITS = 7;
  private static final char MARK = '\u0001';
  private static final char TEXT = 't';
  private static final char BASE64 = 'b';

  private RespName() {}

  /// The name of the value of `key`; null for a key that is empty or too long.
  static @Nullable String of(int database, byte[] key) {
    if (key.length == 0 || key.length > MOST_BYTES) {
      return null;
    }
    String text = text(key);
    if (database == 0 && text != null && text.charAt(0) != MARK) {
      return text;
    }
    String name = prefix(database) + (text == null
        ? BASE64 + Base64.getUrlEncoder().withoutPadding().encodeToString(key)
        : TEXT + text);
    return name.getBytes(StandardCharsets.UTF_8).length > MOST_BYTES ? null : name;
  }

  /// The rule that `key`, which has no name, breaks.
  static String rule(int database, byte[] key) {
    String text = text(key);
    boolean isMarked = database != 0 || text == null || text.startsWith(MARK + "");
    int room = isMarked ? MOST_BYTES - prefix(database).length() - 1 : MOST_BYTES;
    return "key must be 1 to " + (text == null ? room * 3 / 4 : room) + " bytes long"
        + (database == 0 ? "" : " in database " + database) + (text == null ? " where it is no UTF-8" : "") + " (was "
        + key.length + ")";
  }

  private static String prefix(int database) {
    return MARK + Integer.toString(database);
  }

  private static @Nullable String text(byte[] key) {
    for (byte each : key) {
      if (each < 0) {
        return utf8(key);
      }
    }
    return new String(key, StandardCharsets.US_ASCII);
  }

  private static @Nullable String utf8(byte[] key) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(key)).toString();
    } catch (CharacterCodingException e) {
      return null;
    }
  }

  /// Whether `name` comes behind all that have a mark, in the order of names.
  static boolean isBehindMarked(String name) {
    return name.charAt(0) > MARK;
  }

  /// The database that the mark of `name` states; -1 for a name without a mark, which is of the database 0.
  static int database(String name) {
    int end = 1;
    while (end < name.length() && Character.isDigit(name.charAt(end))) {
      end++;
    }
    boolean isMarked = name.charAt(0) == MARK && end > 1 && end <= 1 + MOST_DIGITS && end < name.length()
        && (name.charAt(end) == TEXT || name.charAt(end) == BASE64);
    return isMarked ? Integer.parseInt(name.substring(1, end)) : -1;
  }

  /// The key of the value of `name`; null if it is of another database.
  static byte @Nullable [] key(int database, String name) {
    if (name.charAt(0) != MARK) {
      return database == 0 ? name.getBytes(StandardCharsets.UTF_8) : null;
    }
    String prefix = prefix(database);
    if (!name.startsWith(prefix) || name.length() <= prefix.length()) {
      return null;
    }
    String rest = name.substring(prefix.length() + 1);
    return switch (name.charAt(prefix.length())) {
      case TEXT -> rest.getBytes(StandardCharsets.UTF_8);
      case BASE64 -> Base64.getUrlDecoder().decode(rest);
      default -> null; // a longer number
    };
  }
}
