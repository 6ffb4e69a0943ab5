package io.penstock.node.text;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/// Finds the word that was probably meant. It finds no word rather than a distant one: picocli's own suggestions have
/// no threshold for commands (for `stats` they include `match`), and for an option they are those that begin with the
/// same two letters (for `--html` it has none).
public final class Nearest {
  private static final int MOST = 3;
  private static final int LEAST_PART = 3;
  private static final int LETTERS_A_SLIP = 3;

  private Nearest() {}

  /// Words of `names` that differ from `word` by at most one slip every three letters (one at least), or that begin or
  /// end with it, or whose singular it is: the nearest first, three at most.
  public static List<String> of(String word, Collection<String> names) {
    String bare = bare(word);
    return names.stream().filter(name -> isNear(bare, bare(name)))
        .sorted(
            Comparator.comparingInt((String name) -> slips(bare, bare(name))).thenComparing(Comparator.naturalOrder()))
        .limit(MOST).toList();
  }

  private static boolean isNear(String word, String name) {
    boolean isPart = word.length() >= LEAST_PART && (name.startsWith(word) || name.endsWith("-" + word)
        || (word.endsWith("y") && name.equals(word.substring(0, word.length() - 1) + "ies")));
    return !word.isEmpty() && (isPart
        || (word.charAt(0) == name.charAt(0) && slips(word, name) <= Math.max(1, word.length() / LETTERS_A_SLIP)));
  }

  private static String bare(String option) {
    return option.startsWith("--") ? option.substring(2) : option;
  }

  /// Letters that are missing, too many, wrong, or that changed places with the next.
  private static int slips(String one, String other) {
    int[][] slips = new int[one.length() + 1][other.length() + 1];
    for (int i = 0; i <= one.length(); i++) {
      for (int j = 0; j <= other.length(); j++) {
        slips[i][j] = i == 0 || j == 0
            ? i + j
            : Math.min(Math.min(slips[i - 1][j], slips[i][j - 1]) + 1,
                slips[i - 1][j - 1] + (one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1));
        if (i > 1 && j > 1 && one.charAt(i - 1) == other.charAt(j - 2) && one.charAt(i - 2) == other.charAt(j - 1)) {
          slips[i][j] = Math.min(slips[i][j], slips[i - 2][j - 2] + 1);
        }
      }
    }
    return slips[one.length()][other.length()];
  }
}
