package io.penstock.wire.server.route;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import io.penstock.tier.TierHolds.KeyFilter;
import io.penstock.wire.protocol.WireFormatException;

/// A regular expression of a peer, searched for in the 32 hex digits of a block's hash. Matching takes time linear in
/// the digits (RE2), and a pattern has a bounded size, so a hostile one costs no more than others.
final class HexPattern {
  /// Maximum number of characters of a pattern.
  static final int LONGEST = 128;
  /// Maximum product of all counts such as `{3,8}`: a hash has no more digits.
  static final int MOST_REPEATS = 32;

  private HexPattern() {}

  /// @throws WireFormatException if `pattern` is none, or too large
  static KeyFilter filter(String pattern) {
    if (pattern.isEmpty() || pattern.length() > LONGEST) {
      throw WireFormatException.request("pattern", "of 1 to " + LONGEST + " characters", pattern.length());
    }
    if (repeats(pattern) > MOST_REPEATS) {
      throw WireFormatException.request("pattern", "of counts whose product is <= " + MOST_REPEATS, repeats(pattern));
    }
    try {
      Pattern compiled = Pattern.compile(pattern);
      return new KeyFilter(pattern, key -> compiled.matcher(key.hash().toString()).find());
    } catch (PatternSyntaxException e) {
      throw WireFormatException.request("pattern", "a regular expression of RE2", pattern);
    }
  }

  /// The product of the greater numbers in all braces; bounded.
  private static long repeats(String pattern) {
    long product = 1;
    long most = 0;
    long number = 0;
    boolean inBraces = false;
    for (char c : pattern.toCharArray()) {
      if (c == '{') {
        inBraces = true;
        most = 0;
        number = 0;
      } else if (inBraces && c >= '0' && c <= '9') {
        number = Math.min(10_000, number * 10 + c - '0');
        most = Math.max(most, number);
      } else if (c == ',') {
        number = 0;
      } else if (c == '}' && inBraces) {
        inBraces = false;
        product = Math.min(1_000_000, product * Math.max(1, most));
      }
    }
    return product;
  }
}
