package io.penstock.resp;

import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/// Patterns of names as Redis has them: `*`, `?`, `[a-z]`, `[^a]`, and `\` before a sign that stands for itself.
final class Glob {
  private Glob() {}

  /// @param glob one character a byte
  /// @throws IllegalArgumentException if it is no pattern
  static Pattern pattern(String glob) {
    StringBuilder regex = new StringBuilder();
    for (int i = 0; i < glob.length(); i++) {
      char each = glob.charAt(i);
      int close = glob.indexOf(']', i + 2);
      switch (each) {
        case '*' -> regex.append(regex.toString().endsWith(".*") ? "" : ".*");
        case '?' -> regex.append('.');
        case '\\' -> regex.append(Pattern.quote(String.valueOf(glob.charAt(Math.min(++i, glob.length() - 1)))));
        case '[' -> {
          if (close < 0) {
            regex.append("\\[");
          } else {
            regex.append('[').append(glob.substring(i + 1, close).replace("\\", "\\\\").replace("[", "\\[")
                .replace("&", "\\&")).append(']');
            i = close;
          }
        }
        default -> regex.append(Pattern.quote(String.valueOf(each)));
      }
    }
    try {
      return Pattern.compile(regex.toString(), Pattern.DOTALL);
    } catch (PatternSyntaxException e) {
      throw new IllegalArgumentException("pattern must be one of Redis (was another)", e);
    }
  }
}
