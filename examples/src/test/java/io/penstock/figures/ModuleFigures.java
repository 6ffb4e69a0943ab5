package io.penstock.figures;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/// What one module has.
///
/// @param lines of its main code
/// @param types of its main code, nested ones included
/// @param publicTypes of its main code, nested ones left out
/// @param longLines of all its Java files: those with more than [#MOST_COLUMNS] columns
/// @param goneWords in all its Java and Markdown files
record ModuleFigures(long lines, long types, long publicTypes, long longLines, long goneWords) {
  /// Most columns that a line of Java may have.
  static final int MOST_COLUMNS = 120;
  private static final String TYPE = "(?:(?:protected|private|static|abstract|final|sealed|non-sealed) )*"
      + "(?:class|interface|record|enum|@interface) \\p{Lu}";
  private static final Pattern ANY = Pattern.compile("(?m)^ *(?:public )?" + TYPE);
  private static final Pattern PUBLIC = Pattern.compile("(?m)^public " + TYPE);

  /// @param root of the repository
  static ModuleFigures of(Path root, Path module, List<GoneWord> words) throws IOException {
    ModuleFigures sum = new ModuleFigures(0, 0, 0, 0, 0);
    for (Path file : SourceFiles.below(module)) {
      String text = SourceFiles.read(file);
      sum = sum.plus(of(root.relativize(file), text, words));
    }
    return sum;
  }

  private static ModuleFigures of(Path file, String text, List<GoneWord> words) {
    long gone = GoneWord.uses(words, file, text).size();
    boolean isJava = file.toString().endsWith(".java");
    boolean isMain = isJava && file.toString().contains("/src/main/");
    return new ModuleFigures(isMain ? text.lines().count() : 0, isMain ? count(ANY, text) : 0,
        isMain ? count(PUBLIC, text) : 0, isJava ? longLines(text).size() : 0, gone);
  }

  /// The numbers, from 1, of the lines that are too long.
  static List<Integer> longLines(String text) {
    String[] lines = text.split("\n", -1);
    return IntStream.range(0, lines.length)
        .filter(i -> lines[i].codePointCount(0, lines[i].length()) > MOST_COLUMNS).mapToObj(i -> i + 1).toList();
  }

  private static long count(Pattern pattern, String text) {
    return pattern.matcher(text).results().count();
  }

  private ModuleFigures plus(ModuleFigures other) {
    return new ModuleFigures(lines + other.lines, types + other.types, publicTypes + other.publicTypes,
        longLines + other.longLines, goneWords + other.goneWords);
  }
}
