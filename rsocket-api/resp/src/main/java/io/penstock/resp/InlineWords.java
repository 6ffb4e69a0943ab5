package io.penstock.resp;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The words of a line that a person has written, as Redis splits it: at blanks, but for those in quotation marks.
/// Between double ones `\n` and `\x00` stand for bytes.
final class InlineWords {
  private final byte[] line;
  private final List<byte[]> words = new ArrayList<>();
  private int at;

  private InlineWords(byte[] line) {
    this.line = line;
  }

  /// @return null if a quote is not closed, or a word goes on behind it
  static @Nullable List<byte[]> of(byte[] line) {
    InlineWords split = new InlineWords(line);
    while (split.skipBlanks()) {
      if (!split.word()) {
        return null;
      }
    }
    return split.words;
  }

  private boolean skipBlanks() {
    while (at < line.length && isBlank(line[at])) {
      at++;
    }
    return at < line.length;
  }

  private static boolean isBlank(byte sign) {
    return sign == ' ' || (sign >= '\t' && sign <= '\r') || sign == 0;
  }

  private boolean word() {
    ByteArrayOutputStream word = new ByteArrayOutputStream();
    while (at < line.length && !isBlank(line[at])) {
      byte sign = line[at++];
      if (sign != '"' && sign != '\'') {
        word.write(sign);
      } else if (!quoted(word, sign) || (at < line.length && !isBlank(line[at]))) {
        return false;
      }
    }
    return words.add(word.toByteArray());
  }

  private boolean quoted(ByteArrayOutputStream word, byte quote) {
    while (at < line.length) {
      byte sign = line[at++];
      if (sign == quote) {
        return true;
      } else if (sign == '\\' && at < line.length && (quote == '"' || line[at] == quote)) {
        word.write(quote == '"' ? escaped() : line[at++]);
      } else {
        word.write(sign);
      }
    }
    return false;
  }

  /// The byte that the sign behind a `\` stands for.
  private int escaped() {
    byte sign = line[at++];
    if (sign == 'x' && at + 1 < line.length) {
      int high = Character.digit(line[at], 16);
      int low = Character.digit(line[at + 1], 16);
      if (high >= 0 && low >= 0) {
        at += 2;
        return 16 * high + low;
      }
    }
    return switch (sign) {
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      case 'b' -> '\b';
      case 'a' -> 7;
      default -> sign;
    };
  }
}
