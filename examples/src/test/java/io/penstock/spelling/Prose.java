package io.penstock.spelling;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The words that a person wrote in Markdown, or in the `///` comments of Java; code, links, tags and names are
/// left out.
final class Prose {
  private static final List<Pattern> NOT_PROSE =
      Stream.of(
          "(?ms)^[ \\t]*(```|~~~).*?^[ \\t]*\\1", // code fences
          "``[^`]+``|`[^`\\n]*(\\n[^`\\n]+)?`", // code in a sentence
          "(?s)<!--.*?-->",
          "\\{@\\w+[^}]*\\}",
          "(?<=\\])\\([^)\\s]*\\)", // where a link leads
          "\\[[^\\]\\s]+\\](?!\\()", // a reference to code
          "@(param|throws|see)\\s+\\S+",
          "</?\\w[^>\\n]*>",
          "&\\w+;",
          "\\w+://\\S+")
          .map(Pattern::compile)
          .toList();
  private static final Pattern COMMENT = Pattern.compile("^\\s*///(.*)$");
  private static final Pattern CHUNK = Pattern.compile("[^\\s|*\"“”(),;:!?…—–\\[\\]→]+");
  private static final Pattern EDGES = Pattern.compile("^[^\\p{L}]+|[^\\p{L}]+$");
  private static final Pattern WORD = Pattern.compile("\\p{Lu}?[\\p{Ll}]+(['’]\\p{Ll}+)?");

  private Prose() {}

  /// One word and the line, counted from 1, on which it stands.
  record Word(int line, String text) {}

  static List<Word> ofMarkdown(String text) {
    String[] lines = withoutCode(text).split("\n", -1);
    List<Word> words = new ArrayList<>();
    for (int i = 0; i < lines.length; i++) {
      int line = i + 1;
      CHUNK.matcher(lines[i]).results().flatMap(Prose::parts).forEach(part -> words.add(new Word(line, part)));
    }
    return words;
  }

  static List<Word> ofJava(String source) {
    String comments =
        source.lines()
            .map(COMMENT::matcher)
            .map(comment -> comment.matches() ? comment.group(1) : "")
            .collect(Collectors.joining("\n"));
    return ofMarkdown(comments);
  }

  /// Blanks what is no prose, line by line, so that the lines keep their numbers.
  private static String withoutCode(String text) {
    String left = text;
    for (Pattern pattern : NOT_PROSE) {
      left = pattern.matcher(left).replaceAll(found -> found.group().replaceAll("[^\n]+", " "));
    }
    return left;
  }

  /// Splits at hyphens; a part that is no plain word (a path, a number, a name in camel case) is dropped.
  private static Stream<String> parts(MatchResult chunk) {
    String bare = EDGES.matcher(chunk.group()).replaceAll("");
    return Stream.of(bare.split("[-‑]")).filter(part -> part.length() > 2 && WORD.matcher(part).matches());
  }
}
