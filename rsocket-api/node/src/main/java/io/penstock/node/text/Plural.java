package io.penstock.node.text;

/// Numbers with what they count, as people say them: `1 block`, `2,000 blocks`, `2 passes`.
public final class Plural {
  private Plural() {}

  /// @param one the counted thing, whose plural ends with an s more
  public static String of(long count, String one) {
    return of(count, one, one + "s");
  }

  public static String of(long count, String one, String several) {
    return Numbers.of(count) + " " + (count == 1 ? one : several);
  }
}
