package io.penstock.resp;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/// A pattern of names as Redis has it: `*`, `?`, `[a-z]`, `[^a]`, and `\` before a sign that stands for itself. A match
/// takes at most as many steps as the product of both lengths.
final class Glob {
  private static final int MOST_LENGTH = 1 << 10;
  private static final int SIGNS = 256;
  /// Takes any run of signs; told from the others by identity.
  private static final BitSet STAR = new BitSet();

  /// The signs that each place takes.
  private final List<BitSet> places = new ArrayList<>();
  private final String glob;
  private int at;

  private Glob(String glob) {
    this.glob = glob;
  }

  /// @param glob one character a byte
  /// @throws IllegalArgumentException if it has more than 1 KiB
  static Glob of(String glob) {
    if (glob.length() > MOST_LENGTH) {
      throw new IllegalArgumentException("pattern must have at most " + MOST_LENGTH + " bytes (was " + glob.length()
          + ")");
    }
    Glob pattern = new Glob(glob);
    while (pattern.at < glob.length()) {
      pattern.places.add(pattern.place(glob.charAt(pattern.at++)));
    }
    return pattern;
  }

  private BitSet place(char sign) {
    BitSet signs = new BitSet(SIGNS);
    switch (sign) {
      case '*' -> signs = STAR;
      case '?' -> signs.set(0, SIGNS);
      case '[' -> choose(signs);
      case '\\' -> signs.set(plain(sign));
      default -> signs.set(sign);
    }
    return signs;
  }

  /// The sign that `sign` stands for, which is the next one after a `\`.
  private char plain(char sign) {
    return sign == '\\' && at < glob.length() ? glob.charAt(at++) : sign;
  }

  private void choose(BitSet signs) {
    boolean isNot = at < glob.length() && glob.charAt(at) == '^';
    at += isNot ? 1 : 0;
    while (at < glob.length()) {
      char sign = glob.charAt(at++);
      if (sign == ']') {
        break;
      }
      char first = plain(sign);
      char last = first;
      if (sign != '\\' && at + 1 < glob.length() && glob.charAt(at) == '-') {
        last = glob.charAt(at + 1);
        at += 2;
      }
      signs.set(Math.min(first, last), Math.max(first, last) + 1);
    }
    if (isNot) {
      signs.flip(0, SIGNS);
    }
  }

  /// Whether all of `name` fits. Where it does not, the last star takes one sign more: no earlier one need do so.
  @SuppressWarnings("ReferenceEquality") // an empty choice is no star
  boolean matches(String name) {
    int place = 0;
    int sign = 0;
    int star = -1;
    int resume = 0;
    while (sign < name.length()) {
      boolean isInside = place < places.size();
      if (isInside && places.get(place) == STAR) {
        star = place++;
        resume = sign;
      } else if (isInside && places.get(place).get(name.charAt(sign))) {
        place++;
        sign++;
      } else if (star >= 0) {
        place = star + 1;
        sign = ++resume;
      } else {
        return false;
      }
    }
    while (place < places.size() && places.get(place) == STAR) {
      place++;
    }
    return place == places.size();
  }
}
