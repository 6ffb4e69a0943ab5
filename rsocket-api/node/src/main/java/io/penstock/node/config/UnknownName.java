package io.penstock.node.config;

import io.penstock.node.setting.Origin;
import io.penstock.node.setting.Setting;
import java.util.Comparator;
import java.util.function.Function;

/// Words the complaint about a name that no setting has, and guesses what was meant.
final class UnknownName {
  private UnknownName() {}

  static String problem(String what, String name, Origin origin, Function<Setting<?>, String> naming) {
    String nearest = NodeSettings.ALL.stream().map(naming).min(Comparator.comparingInt(known -> distance(known, name)))
        .orElseThrow();
    return "%s must be one that `penstock serve --help` lists (was %s, from %s; did you mean %s?)".formatted(what, name,
        origin, nearest);
  }

  /// Edits that turn one word into the other (Levenshtein).
  private static int distance(String a, String b) {
    int[] row = new int[b.length() + 1];
    for (int j = 0; j < row.length; j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[b.length()];
  }
}
