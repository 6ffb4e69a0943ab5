package io.penstock.lab.bench.side;

import java.util.Locale;

/// Names of choices as options and JSON spell them.
public final class BenchNames {
  private BenchNames() {}

  public static String of(Enum<?> choice) {
    return choice.name().toLowerCase(Locale.ROOT);
  }
}
