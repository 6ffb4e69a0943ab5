package io.penstock.node.cli;

import java.util.Locale;

/// Numbers with what they count, as people say them: `1 block`, `2,000 blocks`, `2 passes`.
public final class Plural {
  private Plural() {}

  /// @param one what is counted, in the singular
  public static String of(long count, String one) {
    return String.format(Locale.ROOT, "%,d %s%s", count, one, count == 1 ? "" : one.endsWith("s") ? "es" : "s");
  }
}
