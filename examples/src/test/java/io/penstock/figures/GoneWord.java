package io.penstock.figures;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/// A word or phrase that this repository does not use, and what to say instead: one line of `.spelling/gone.txt`.
///
/// @param phrase lower case; a regular expression in which a space stands for any space, a new line of a comment
///     included
/// @param instead what to say
/// @param isReported whether uses are counted and fail nothing, because the word is still being replaced
/// @param start the letters that each use begins with, which are quicker to look for; it may be empty
record GoneWord(String phrase, String instead, boolean isReported, String start, Pattern pattern) {
  private static final Pattern LINE = Pattern.compile("(~ )?(\\S.*?) → (\\S.*)");
  /// A letter before `?` may be missing.
  private static final Pattern START = Pattern.compile("[a-z]*(?![a-z?])");
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
    var start = START.matcher(phrase);
    return new GoneWord(phrase, parts.group(3), parts.group(1) != null, start.lookingAt() ? start.group() : "",
        pattern);
  }

  /// Uses of `words` in `file`; a name is read as its words, so that *teaLine* is *tea line*.
  static List<Use> uses(List<GoneWord> words, Path file, String text) {
    String spaced = spaced(text);
    String lower = spaced.toLowerCase(Locale.ROOT);
    List<Use> uses = new ArrayList<>();
    for (GoneWord word : words) {
      if (!lower.contains(word.start)) {
        continue;
      }
      word.pattern.matcher(spaced).results()
          .forEach(found -> uses.add(new Use(file, lineOf(spaced, found.start()), word)));
    }
    return uses;
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
