package io.penstock.node.client;

import java.util.ArrayList;
import java.util.List;

/// Reads lists of numbers such as `1,5,10-20`.
final class Ranges {
  private static final int MOST = 1 << 20;

  private Ranges() {}

  /// @param name of the list, for the message
  static List<Long> parse(String name, String text) {
    List<Long> numbers = new ArrayList<>();
    for (String part : text.split(",", -1)) {
      add(name, text, part.strip(), numbers);
    }
    return numbers;
  }

  private static void add(String name, String text, String part, List<Long> numbers) {
    int dash = part.indexOf('-', 1);
    try {
      long first = Long.parseLong(dash < 0 ? part : part.substring(0, dash));
      long last = dash < 0 ? first : Long.parseLong(part.substring(dash + 1));
      if (first < 0 || last < first || last - first >= MOST - numbers.size()) {
        throw refused(name, text);
      }
      for (long number = first; number <= last; number++) {
        numbers.add(number);
      }
    } catch (NumberFormatException e) {
      throw refused(name, text);
    }
  }

  private static IllegalArgumentException refused(String name, String text) {
    return new IllegalArgumentException(
        name + " must be numbers and ranges such as 1,5,10-20, at most " + MOST + " in all (was " + text + ")");
  }
}
