package io.penstock.spelling;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Checks the whole repository; it stands in the last module, so that a misspelt word hides no other failure.
final class SpellingTest {
  private static final Path ROOT = Path.of(System.getProperty("basedir", "")).toAbsolutePath().getParent();
  private static final Path TERMS = ROOT.resolve(".spelling/terms.txt");

  @Test
  void everyWordOfThisRepository_isSpeltRight() throws IOException {
    assertThat(new Spelling(terms()).mistakesBelow(ROOT))
        .as("misspelt words (a term of the field goes into .spelling/terms.txt, code between backticks)")
        .isEmpty();
  }

  @Test
  void terms_areSortedLowerCaseAndNamedOnce() throws IOException {
    assertThat(terms()).isSorted().doesNotHaveDuplicates().allMatch(term -> term.matches("\\p{Ll}+"));
  }

  @Test
  void terms_areNoWordsThatTheDictionaryKnows() throws IOException {
    Spelling dictionary = new Spelling(List.of());

    assertThat(terms()).filteredOn(dictionary::isKnown).isEmpty();
  }

  @Test
  void mistake_isReportedWithFileLineAndWord(@TempDir Path root) throws IOException {
    Files.writeString(root.resolve("A.java"), "/// Right.\nint wrnog;\n/// A beautifull block.\n");
    Files.writeString(root.resolve("README.md"), "# Good\n\n```\nfooo\n```\nA mispelt word\n");

    List<String> mistakes = new Spelling(List.of()).mistakesBelow(root);

    assertThat(mistakes).hasSize(2);
    assertThat(mistakes.get(0)).startsWith("A.java:3: beautifull");
    assertThat(mistakes.get(1)).startsWith("README.md:6: mispelt");
  }

  @Test
  void codeLinksAndNames_areNotWords() {
    assertThat(Prose.ofMarkdown(
        "See `fooBarr` in [the text](htpp://x.yy), [Blokc], `a\nbb c` camelCasse x/yzz @param fooo the NVMe"))
        .extracting(Prose.Word::text)
        .containsExactly("See", "the", "text", "the");
  }

  @Test
  void plurals_possessivesAndContractions_areKnown() throws IOException {
    Spelling spelling = new Spelling(List.of("backpressure", "demux"));

    assertThat(List.of("block's", "don't", "demuxs", "blocks'", "Backpressure", "initialise"))
        .allMatch(spelling::isKnown);
    assertThat(spelling.isKnown("initializze")).isFalse();
  }

  private static List<String> terms() throws IOException {
    return Files.readAllLines(TERMS);
  }
}
