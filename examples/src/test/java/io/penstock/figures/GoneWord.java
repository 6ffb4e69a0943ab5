package io.penstock.figures;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/// A word or phrase that this repository does not use, and what to say instead: one line of `.spelling/gone.txt`.
///
/// @param phrase lower case; a regular expression in which a space stands for any space, a new line of a comment
///     included
/// @param instead what to say
/// @param isReported whether uses are counted and fail nothing, because the word is still being replaced
/// @param pieces letters that each use has, which are quicker to look for; there may be none
record GoneWord(String phrase, String instead, boolean isReported, List<String> pieces, Pattern pattern) {
  private static final Pattern LINE = Pattern.compile("(~ )?(\\S.*?) → (\\S.*)");
  /// Groups, of which a use may have one word or another.
  private static final Pattern GROUP = Pattern.compile("\\([^()]*\\)[?*+]?");
  private static final Pattern MAY_BE_MISSING = Pattern.compile("[a-z][?*]");
  private static final Pattern PIECE = Pattern.compile("[a-z]{2,}");
  /// Letters, and one number for all that is none.
  private static final int LETTERS = 27;
  private static final String SPACE = "(?:\\\\s+(?:///?\\\\s*)?|-)";

  /// One use of a word.
  record Use(Path file, int line, GoneWord word) {
    @Override
    public String toString() {
      return "%s:%d: %s (say: %s)".formatted(file, line, word.phrase(), word.instead());
    }
  }

  /// The words of the repository at `root`; none if it has no list.
  static List<GoneWord> of(Path root) throws IOException {
    Path list = root.resolve(".spelling/gone.txt");
    return Files.exists(list)
        ? Files.readAllLines(list).stream().filter(line -> !line.startsWith("#")).map(GoneWord::parse).toList()
        : List.of();
  }

  static GoneWord parse(String line) {
    var parts = LINE.matcher(line);
    if (!parts.matches()) {
      throw new IllegalArgumentException("line must be of the form: word → what to say (was " + line + ")");
    }
    String phrase = parts.group(2);
    Pattern pattern = Pattern.compile("\\b(?:" + phrase.replaceAll(" ", SPACE) + ")\\b", Pattern.CASE_INSENSITIVE);
    return new GoneWord(phrase, parts.group(3), parts.group(1) != null, pieces(phrase), pattern);
  }

  private static List<String> pieces(String phrase) {
    if ((phrase.contains("|") && !phrase.contains("(")) || phrase.contains("\\") || phrase.contains("[")) {
      return List.of();
    }
    String rest = phrase;
    for (String before = ""; !before.equals(rest);) {
      before = rest;
      rest = GROUP.matcher(before).replaceAll(" ");
    }
    return rest.contains("|")
        ? List.of()
        : PIECE.matcher(MAY_BE_MISSING.matcher(rest).replaceAll(" ")).results().map(MatchResult::group).toList();
  }

  /// Uses of `words` in `file`; a name is read as its words, so that *teaLine* is *tea line*.
  static List<Use> uses(List<GoneWord> words, Path file, String text) {
    String spaced = spaced(text);
    String lower = spaced.toLowerCase(Locale.ROOT);
    BitSet threes = threes(lower);
    List<Use> uses = new ArrayList<>();
    for (GoneWord word : words) {
      if (word.pieces.stream().allMatch(piece -> mayHave(threes, piece) && lower.contains(piece))) {
        word.pattern.matcher(spaced).results()
            .forEach(found -> uses.add(new Use(file, lineOf(spaced, found.start()), word)));
      }
    }
    return uses;
  }

  /// Which three letters stand one behind another anywhere: most pieces of most texts are told by that.
  private static BitSet threes(String lower) {
    BitSet threes = new BitSet(LETTERS * LETTERS * LETTERS);
    int last = 0;
    for (int i = 0; i < lower.length(); i++) {
      last = (last * LETTERS + letter(lower.charAt(i))) % (LETTERS * LETTERS * LETTERS);
      threes.set(last);
    }
    return threes;
  }

  private static boolean mayHave(BitSet threes, String piece) {
    for (int i = 2; i < piece.length(); i++) {
      int three = (letter(piece.charAt(i - 2)) * LETTERS + letter(piece.charAt(i - 1))) * LETTERS
          + letter(piece.charAt(i));
      if (!threes.get(three)) {
        return false;
      }
    }
    return true;
  }

  private static int letter(char each) {
    return each >= 'a' && each <= 'z' ? each - 'a' + 1 : 0;
  }

  private static String spaced(String text) {
    StringBuilder spaced = new StringBuilder(text.length() + text.length() / 8);
    char before = ' ';
    for (char each : text.toCharArray()) {
      if (Character.isUpperCase(each) && (Character.isLowerCase(before) || Character.isDigit(before))) {
        spaced.append(' ');
      }
      spaced.append(each == '_' ? ' ' : each);
      before = each;
    }
    return spaced.toString();
  }

  private static int lineOf(String text, int index) {
    return 1 + (int) text.chars().limit(index).filter(c -> c == '\n').count();
  }
}
