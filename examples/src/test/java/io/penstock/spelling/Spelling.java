package io.penstock.spelling;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
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
  private static final Set<String> NOT_OURS = Set.of("target", ".git", ".idea", ".vscode");

  private final Speller speller;
  private final Set<String> terms;

  Spelling(List<String> terms) throws IOException {
    this.speller = new Speller(Dictionary.read(Objects.requireNonNull(getClass().getResource(BRITISH), BRITISH)));
    this.terms = new HashSet<>(terms);
  }

  /// Lists what is misspelt in a repository's Markdown and Java files, each as *file:line: word*.
  List<String> mistakesBelow(Path root) throws IOException {
    return prose(root).stream()
        .sorted()
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
    try {
      String text = Files.readString(file);
      return file.toString().endsWith(".md") ? Prose.ofMarkdown(text) : Prose.ofJava(text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// The files to read; folders that a build or git writes to are not entered, for they change meanwhile.
  private static List<Path> prose(Path root) throws IOException {
    List<Path> found = new ArrayList<>();
    Files.walkFileTree(
        root,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
            return NOT_OURS.contains(folder.getFileName().toString())
                ? FileVisitResult.SKIP_SUBTREE
                : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            String name = file.toString();
            if (name.endsWith(".md") || name.endsWith(".java")) {
              found.add(file);
            }
            return FileVisitResult.CONTINUE;
          }
        });
    return found;
  }
}
