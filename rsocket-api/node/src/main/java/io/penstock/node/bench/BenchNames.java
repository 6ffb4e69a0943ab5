package io.penstock.node.bench;

import java.util.Locale;

/// Names of choices as options and JSON spell them.
final class BenchNames {
  private BenchNames() {}

  static String of(Enum<?> choice) {
    return choice.name().toLowerCase(Locale.ROOT);
  }
}
