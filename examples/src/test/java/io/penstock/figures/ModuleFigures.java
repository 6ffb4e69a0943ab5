package io.penstock.figures;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/// What one module has.
///
/// @param lines of its main code
/// @param types of its main code, nested ones included
/// @param forUsers public types of its main code, nested ones left out, in packages exported to all; of a module
///     without a descriptor, in every package
/// @param forAuthors the same in a package `spi` or `disagg`, for authors of stores, tiers and engines
/// @param shared the same in packages exported to some modules of this project, or to none
/// @param longLines of all its Java files: those with more than [#MOST_COLUMNS] columns
/// @param goneWords in all its Java and Markdown files
record ModuleFigures(long lines, long types, long forUsers, long forAuthors, long shared, long longLines,
    long goneWords) {
  /// Most columns that a line of Java may have.
  static final int MOST_COLUMNS = 120;
  private static final String TYPE = "(?:(?:protected|private|static|abstract|final|sealed|non-sealed) )*"
      + "(?:class|interface|record|enum|@interface) \\p{Lu}";
  private static final Pattern ANY = Pattern.compile("(?m)^ *(?:public )?" + TYPE);
  private static final Pattern PACKAGE = Pattern.compile("(?m)^package ([\\w.]+);");
  private static final Pattern OF_AUTHORS = Pattern.compile("(?m)^package (?:[\\w.]+\\.spi|io\\.penstock\\.disagg);");
  private static final Pattern PUBLIC = Pattern.compile("(?m)^public " + TYPE);

  /// @param root of the repository
  static ModuleFigures of(Path root, Path module, List<GoneWord> words) throws IOException {
    ModuleFigures sum = new ModuleFigures(0, 0, 0, 0, 0, 0, 0);
    if (!Files.isDirectory(module)) { // an earlier version has fewer modules
      return sum;
    }
    Path descriptor = module.resolve("src/main/module/module-info.java");
    String exports = Files.exists(descriptor) ? SourceFiles.read(descriptor) : "";
    for (Path file : SourceFiles.below(module)) {
      String text = SourceFiles.read(file);
      sum = sum.plus(of(root.relativize(file), text, exports, words));
    }
    return sum;
  }

  private static ModuleFigures of(Path file, String text, String exports, List<GoneWord> words) {
    long gone = GoneWord.uses(words, file, text).size();
    boolean isJava = file.toString().endsWith(".java");
    boolean isMain = isJava && file.toString().contains("/src/main/");
    long publicTypes = isMain ? count(PUBLIC, text) : 0;
    boolean isShared = isShared(text, exports);
    boolean isForAuthors = !isShared && OF_AUTHORS.matcher(text).find();
    return new ModuleFigures(isMain ? text.lines().count() : 0, isMain ? count(ANY, text) : 0,
        isShared || isForAuthors ? 0 : publicTypes, isForAuthors ? publicTypes : 0, isShared ? publicTypes : 0,
        isJava ? longLines(text).size() : 0, gone);
  }

  /// Whether the descriptor does not export the package of `text` to all.
  private static boolean isShared(String text, String exports) {
    Matcher found = PACKAGE.matcher(text);
    return !exports.isEmpty() && found.find() && !exports.contains("exports " + found.group(1) + ";");
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
    return new ModuleFigures(lines + other.lines, types + other.types, forUsers + other.forUsers,
        forAuthors + other.forAuthors, shared + other.shared, longLines + other.longLines, goneWords + other.goneWords);
  }
}
