package io.penstock.spelling;

import io.penstock.figures.SourceFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import morfologik.speller.Speller;
import morfologik.stemming.Dictionary;

/// Checks words against a British dictionary and the list of the field's own terms; needs no network.
final class Spelling {
  private static final String BRITISH = "/org/languagetool/resource/en/hunspell/en_GB.dict";

  private final Speller speller;
  private final Set<String> terms;

  Spelling(List<String> terms) throws IOException {
    this.speller = new Speller(Dictionary.read(Objects.requireNonNull(getClass().getResource(BRITISH), BRITISH)));
    this.terms = new HashSet<>(terms);
  }

  /// Lists what is misspelt in a repository's Markdown and Java files, each as *file:line: word*.
  List<String> mistakesBelow(Path root) throws IOException {
    return SourceFiles.below(root).stream()
        .flatMap(file -> mistakesIn(file).map(mistake -> root.relativize(file) + ":" + mistake))
        .toList();
  }

  boolean isKnown(String word) {
    String plain = word.replace('’', '\'').replaceFirst("'s?$", "");
    String lower = plain.toLowerCase(Locale.ROOT);
    return isTerm(lower) || speller.isInDictionary(plain) || speller.isInDictionary(lower) || isContraction(word);
  }

  private boolean isTerm(String lower) {
    return terms.contains(lower) || (lower.endsWith("s") && terms.contains(lower.substring(0, lower.length() - 1)));
  }

  private boolean isContraction(String word) {
    return speller.isInDictionary(word.replace('’', '\'').toLowerCase(Locale.ROOT));
  }

  private Stream<String> mistakesIn(Path file) {
    return words(file).stream()
        .filter(word -> !isKnown(word.text()))
        .map(word -> word.line() + ": " + word.text() + suggestion(word.text()));
  }

  private String suggestion(String word) {
    List<String> better = speller.findReplacements(word);
    return better.isEmpty() ? "" : " (" + better.getFirst() + "?)";
  }

  private static List<Prose.Word> words(Path file) {
    String text = SourceFiles.read(file);
    return file.toString().endsWith(".md") ? Prose.ofMarkdown(text) : Prose.ofJava(text);
  }
}
